"""Model files of llama.cpp, and the small model that comes with Gnomon."""
