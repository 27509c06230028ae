"""One turn: admitted, started, prompted, prepared, judged, guarded, published and finished."""
