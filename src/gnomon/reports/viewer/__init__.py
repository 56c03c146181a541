"""The viewer: a local web app over a folder of runs. It changes only what people note."""
