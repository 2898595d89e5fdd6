"""What every test run needs, wherever it is started from."""

import signal
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import settings

# started in the background by a script, a run ignores Ctrl-C and so would the
# processes that the tests interrupt
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# time is no promise on a busy machine. The same few examples in every run; `make
# explore` looks at other ones
settings.register_profile("fixed", deadline=None, derandomize=True, max_examples=40)
settings.register_profile("explore", deadline=None, max_examples=500)
settings.load_profile("fixed")


@pytest.fixture(scope="module")
def one_process():
    """Commands work in a thread beside, where no promise is about processes.

    A new one has all to import.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "cogniload_repro.executors.open_executor", lambda *_: ThreadPoolExecutor(1)
        )
        yield
