"""HTTP/1.1 as far as evalcase speaks it: a client for targets, a server for `view`. httptools reads
what comes; what is sent, and how long connections live, is said here."""
