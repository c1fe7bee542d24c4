"""What stands between a client and the application, one file a danger."""
