"""How instrumentations write down what was said: each way is a file that turns it to messages."""
