"""Who looks at the pages, and which repositories' sessions they may see."""
