"""Call the native network simulator, and describe what it predicts."""
