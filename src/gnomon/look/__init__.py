"""From anyone's pictures to typical colours, relative sizes and elevations: `gnomon look`."""
