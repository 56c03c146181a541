"""Label Studio for teams: items go to a project of a server, and people's answers come back."""
