#include "tests/app/cli_run.h"

#include <QDir>
#include <QFile>
#include <QProcess>

#include "tests/support/shared_folder.h"

namespace firsttoken::tests {

namespace {

constexpr int patienceMs = 10 * 60 * 1000;  // ends a hung program; no figure is judged by it

}  // namespace

bool CliResult::isOneSentence() const {
    const auto lines = err.split('\n');
    return out.isEmpty() && err.startsWith("firsttoken-cli: ") && err.endsWith('\n') && lines.size() <= 3 &&
           lines[0].size() > 20;
}

QString CliBench::file(const QString& name, const QByteArray& bytes) const {
    QFile file(path(name));
    if (file.open(QIODevice::WriteOnly)) file.write(bytes);
    return file.fileName();
}

void CliBench::addModel(const char* fixtureName, const QString& as) const {
    QDir(m_folder.path()).mkpath("models");
    QFile::copy(fixturePath(fixtureName), models() + "/" + as);
}

QProcessEnvironment CliBench::variables() const {
    auto variables = QProcessEnvironment::systemEnvironment();
    variables.insert("FIRSTTOKEN_MODELS", models());
    variables.insert("XDG_DATA_HOME", m_folder.filePath("data"));
    for (const auto& given : environment) variables.insert(given.section('=', 0, 0), given.section('=', 1));
    return variables;
}

CliResult CliBench::run(const QStringList& arguments, const QByteArray& input) const {
    QProcess process;
    process.setProcessEnvironment(variables());
    process.setWorkingDirectory(m_folder.path());
    process.start(FIRSTTOKEN_CLI, arguments);
    process.write(input);
    process.closeWriteChannel();
    CliResult result;
    if (!process.waitForFinished(patienceMs)) return result;
    result.exitCode = process.exitStatus() == QProcess::NormalExit ? process.exitCode() : 128 + process.exitCode();
    result.out = process.readAllStandardOutput();
    result.err = process.readAllStandardError();
    return result;
}

QString fixturePath(const char* name) { return QString::fromStdString(fixture(name)); }

}  // namespace firsttoken::tests
