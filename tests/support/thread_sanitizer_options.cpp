// Asked by ThreadSanitizer's runtime when a program starts; without it, functions that nobody calls. Weak, so that
// others may define them too.

extern "C" {
__attribute__((weak)) const char* __tsan_default_options();
__attribute__((weak)) const char* __tsan_default_suppressions();
}

/// QProcess forks by vfork, which marks the parent as the child of a fork; it may still start threads.
const char* __tsan_default_options() { return "die_after_fork=0"; }

/// Qt's libraries are not built with ThreadSanitizer: it does not see what orders their threads, as Qt Test's own
/// watchdog and the thread that ends it.
const char* __tsan_default_suppressions() {
    return "race:libQt6Core.so\n"
           "race:libQt6Test.so\n";
}
