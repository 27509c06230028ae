"""A reported turn finished: classified, guarded, published, recorded."""
