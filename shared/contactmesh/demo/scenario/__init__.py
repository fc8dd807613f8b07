"""The story, part by part; each part does something through terminals and shows what came of it."""
