"""What every test run needs, wherever it is started from."""

import signal

# started in the background by a script, a run ignores Ctrl-C and so would the processes that the tests interrupt
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
