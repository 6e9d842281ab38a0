#pragma once

#include <QByteArray>
#include <QFile>
#include <QProcess>
#include <QString>
#include <QStringList>

namespace firsttoken::tests {

struct ScriptResult {
    int status = -1;  ///< -1: it did not start, or a signal ended it
    QByteArray output;
    QByteArray messages;
};

/// Runs a program to its end, without standard input.
inline ScriptResult runProgram(const QString& program, const QStringList& arguments,
                               const QProcessEnvironment& environment, const QString& workingFolder = {}) {
    QProcess process;
    process.setProcessEnvironment(environment);
    process.setStandardInputFile(QProcess::nullDevice());
    process.setWorkingDirectory(workingFolder);
    process.start(program, arguments);
    process.waitForFinished(-1);
    const bool ended = process.error() == QProcess::UnknownError && process.exitStatus() == QProcess::NormalExit;
    return {ended ? process.exitCode() : -1, process.readAllStandardOutput(), process.readAllStandardError()};
}

/// Runs a script of the project.
inline ScriptResult runScript(const QString& script, const QStringList& arguments,
                              const QProcessEnvironment& environment) {
    return runProgram(QStringLiteral(FIRSTTOKEN_SOURCE_DIR "/") + script, arguments, environment);
}

inline void writeFile(const QString& path, const QByteArray& text, bool executable = false) {
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly)) qFatal("cannot write %s", qPrintable(path));
    file.write(text);
    if (executable) file.setPermissions(file.permissions() | QFile::ExeOwner);
}

}  // namespace firsttoken::tests
