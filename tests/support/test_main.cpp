#include <QCoreApplication>
#include <QtTest>
#include <cstring>

#include "tests/support/test_registry.h"

namespace firsttoken::tests {

std::vector<TestClass>& testClasses() {
    static std::vector<TestClass> classes;
    return classes;
}

}  // namespace firsttoken::tests

/// Runs every class, or only the one named by the first argument; the rest goes to Qt Test.
int main(int argc, char** argv) {
    QCoreApplication application(argc, argv);
    std::string only;
    std::vector<char*> arguments = {argv[0]};
    for (int i = 1; i < argc; ++i) {
        if (i == 1 && argv[i][0] != '-') {
            only = argv[i];
        } else {
            arguments.push_back(argv[i]);
        }
    }
    int failures = 0;
    for (const auto& entry : firsttoken::tests::testClasses()) {
        if (!only.empty() && entry.name != only) continue;
        const auto object = entry.make();
        failures += QTest::qExec(object.get(), static_cast<int>(arguments.size()), arguments.data());
    }
    return failures == 0 ? 0 : 1;
}
