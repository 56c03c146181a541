"""The page of a knowledge folder: for each object its distributions and the crops behind them."""
