// A task without a compiler: a TOML file whose expressions say what a robot, or a few states, are to do.
// docs/guide/task-files.md is its page.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cgpo/tasks/registry.hpp"

namespace cgpo {

class TaskFile {
 public:
  // The robot's file is looked for beside the task file. Throws UserError with place.
  static std::shared_ptr<const TaskFile> read(const std::filesystem::path& path);
  // `file`: for messages and for the folder of a robot; without its ending the task's name, unless the text has one.
  static std::shared_ptr<const TaskFile> parse(const std::string& text, const std::filesystem::path& file);

  const std::string& path() const { return path_; }  // as it was named
  // The same task as one text that needs no other file, but for the robot's meshes and pictures: what is kept.
  const std::string& text() const { return text_; }
  const std::string& checksum() const { return checksum_; }                 // of that text
  const std::vector<std::string>& needed_files() const { return needed_; }  // those meshes and pictures
  const TaskEntry& entry() const { return entry_; }

 private:
  std::string path_;
  std::string text_;
  std::string checksum_;
  std::vector<std::string> needed_;
  TaskEntry entry_;
};

// Whether a name of a task is that of a file.
bool is_task_file(std::string_view task);

// The tables of the page on the language, as Markdown, by their headings: a test compares.
struct ReferenceTable {
  std::string title;
  std::string markdown;
};
std::vector<ReferenceTable> reference_tables();

}  // namespace cgpo
