"""What people see: tables, figures, pages, the viewer."""
