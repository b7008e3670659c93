#include "cgpo/physics/mujoco/handle.hpp"

#include <array>
#include <cctype>
#include <filesystem>
#include <fmt/format.h>
#include <mutex>
#include <regex>

#include "cgpo/base/error.hpp"
#include "cgpo/base/file.hpp"
#include "cgpo/physics/mujoco/version.hpp"

namespace cgpo {
namespace {

// MuJoCo must not go on after an error; the exception passes through its frames to our caller. All else is kept quiet.
void take_message(const mjLogMessage* message) {
  if (message->level == mjLOG_ERROR) throw UserError("MuJoCo: {}", message->subject);
}

std::mutex& compiler_mutex() {
  static std::mutex mutex;  // the compiler has global state
  return mutex;
}

void install_handler() {
  static std::once_flag once;
  std::call_once(once, [] { mju_setLogHandler(take_message); });
}

// MuJoCo's messages are several lines and sometimes end in blanks.
std::string one_sentence(const char* message) {
  std::string text;
  for (const char* c = message; *c != '\0'; ++c) {
    if (*c == '\n') {
      while (!text.empty() && (text.back() == ' ' || text.back() == '\n')) text.pop_back();
      if (!text.empty() && c[1] != '\0') text += text.back() == ',' || text.back() == ':' ? " " : ", ";
    } else {
      text += *c;
    }
  }
  while (!text.empty() && (text.back() == ' ' || text.back() == ',')) text.pop_back();
  // The XML reader's numbers say nothing to the user, nor does a column that is not known.
  static const std::regex parser(
      R"(XML parse error \d+: Error=XML_(?:ERROR_)?(\w+) ErrorID=\d+ \(0x\w+\) Line number=)");
  std::smatch code;
  if (std::regex_search(text, code, parser)) {
    std::string meaning = code[1];
    for (char& c : meaning) c = c == '_' ? ' ' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    text = fmt::format("{}XML error: {}, line {}", code.prefix().str(), meaning, code.suffix().str());
  }
  static const std::regex column(", column = -1$");
  return std::regex_replace(text, column, "");
}

MujocoModel compile(const std::string& file, const mjVFS* files, const std::string& name) {
  install_handler();
  const std::lock_guard lock(compiler_mutex());
  std::array<char, 1000> message{};
  MujocoModel model(mj_loadXML(file.c_str(), files, message.data(), static_cast<int>(message.size())));
  if (model == nullptr) throw UserError("{}: {}", name, one_sentence(message.data()));
  check_compiled_numbers(*model, name);
  return model;
}

}  // namespace

MujocoModel compile_file(const std::string& path) {
  std::error_code ignored;  // a missing file or a folder is read_file's to refuse
  if (std::filesystem::exists(path, ignored) && std::filesystem::is_other(path, ignored)) {
    throw UserError("'{}' is not a file", path);  // nor can it be read twice
  }
  check_written_numbers(read_file(path), path);
  return compile(path, nullptr, path);
}

MujocoModel compile_text(const std::string& xml, const std::string& name) {
  if (xml.empty()) throw UserError("{} is empty", name);
  check_written_numbers(xml, name);
  install_handler();
  struct Files {
    Files() { mj_defaultVFS(&system); }
    ~Files() { mj_deleteVFS(&system); }
    Files(const Files&) = delete;
    Files& operator=(const Files&) = delete;
    mjVFS system{};
  } files;
  const char* file = "text.xml";
  check(mj_addBufferVFS(&files.system, file, xml.data(), static_cast<int>(xml.size())) == 0,
        "an empty file system has room");
  return compile(file, &files.system, name);
}

const char* mujoco_version() { return mj_versionString(); }

std::string element_name(const mjModel& model, mjtObj type, int id) {
  const char* kind = mju_type2Str(type);
  const char* name = mj_id2name(&model, type, id);
  if (name != nullptr && name[0] != '\0') return fmt::format("{} '{}'", kind, name);
  int body = -1;
  if (type == mjOBJ_GEOM) body = model.geom_bodyid[id];
  if (type == mjOBJ_JOINT) body = model.jnt_bodyid[id];
  if (body < 0) return fmt::format("{} {}", kind, id);
  return fmt::format("{} {} of {}", kind, id, element_name(model, mjOBJ_BODY, body));
}

}  // namespace cgpo
