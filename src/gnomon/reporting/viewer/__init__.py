"""The viewer: a local web app over a folder of runs. It reads; it never writes."""
