"""What people see: tables, charts, the page, the viewer."""
