// Tells the native calls of a process that crashes, innermost first, before Python's own handler.
#include <execinfo.h>
#include <unistd.h>

#include <csignal>

namespace {

struct sigaction pythons;

void tell(int signal, siginfo_t*, void*) {
    void* calls[64];
    constexpr char title[] = "native calls, innermost first:\n";
    if (write(STDERR_FILENO, title, sizeof title - 1) > 0) {
        backtrace_symbols_fd(calls, backtrace(calls, 64), STDERR_FILENO);
    }
    sigaction(signal, &pythons,
              nullptr);  // the instruction is run again, and Python tells its calls
}

}  // namespace

extern "C" void install() {
    void* calls[1];
    backtrace(calls, 1);  // loads what it needs while there is memory
    struct sigaction ours = {};
    ours.sa_sigaction = tell;
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaction(SIGSEGV, &ours, &pythons);
}
