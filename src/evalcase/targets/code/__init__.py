"""What calling code of the user takes: its parameters, its set-up and its tear-down."""
