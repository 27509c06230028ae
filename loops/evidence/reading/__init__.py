"""A raw log read once: its lines, its steps, the commands behind them."""
