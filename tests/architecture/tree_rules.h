#pragma once

#include <QString>
#include <vector>

#include "tests/architecture/include_rules.h"

/// Rules about the text of files, whatever they include.
namespace firsttoken::tests {

inline constexpr int kMostLines = 600;

/// Files of the tree below `root`, build folders and the Git folder left out: C++ sources and headers.
std::vector<SourceFile> sourcesBelow(const QString& root);
/// All text files of the tree: sources, scripts, CMake, data and documents; binary fixtures left out.
std::vector<SourceFile> textsBelow(const QString& root);

/// More than kMostLines lines; a header without #pragma once.
std::vector<Violation> checkShape(const SourceFile& file);
/// Marks of unfinished work, and absolute paths of one machine.
std::vector<Violation> checkWords(const SourceFile& file);
/// /proc and /sys are read in engine/observe only.
std::vector<Violation> checkMachineFiles(const SourceFile& file);
/// firsttoken_add_room in engine/ and sessions/: PUBLIC holds only our own targets.
std::vector<Violation> checkPublicLibraries(const SourceFile& cmake);

}  // namespace firsttoken::tests
