#include "cgpo/cli/command_line.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fmt/ranges.h>
#include <new>
#include <string>
#include <vector>

#include "cgpo/base/error.hpp"
#include "cgpo/base/memory_limit.hpp"
#include "cgpo/base/program_name.hpp"
#include "cgpo/base/text.hpp"
#include "cgpo/base/version.hpp"
#include "cgpo/cli/commands.hpp"
#include "cgpo/cli/terminal.hpp"
#include "cgpo/config/keys.hpp"

namespace cgpo {
namespace {

std::string overview() {
  const std::string& program = program_name();
  return fmt::format(
      R"(Safe policy optimisation with analytic gradients through a differentiable simulator.

Try:  {:<42} what can be trained
      {:<42} train; the run goes to runs/function-cgpo-s0
      {:<42} how good it is, and whether its limits hold)",
      program + " tasks", program + " train function", program + " eval runs/function-cgpo-s0");
}

// All of the text, or nothing.
template <class Value>
bool parse(const std::string& text, Value& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

// One function for each kind of flag.
CLI::Option* add_option(CLI::App& app, const Flag& flag, const Switch& kind) {
  return app.add_flag(flag.name, *kind.target, flag.help);
}
CLI::Option* add_option(CLI::App& app, const Flag& flag, const Text& kind) {
  return app.add_option(flag.name, *kind.target, flag.help);
}
CLI::Option* add_option(CLI::App& app, const Flag& flag, const Texts& kind) {
  return app.add_option(flag.name, *kind.target, flag.help);
}
CLI::Option* add_option(CLI::App& app, const Flag& flag, const FilledText& kind) {
  const auto store = [name = flag.name, target = kind.target](const std::string& text) {
    if (text.empty()) throw UserError("{} must not be empty", name);
    *target = text;
  };
  return app.add_option_function<std::string>(flag.name, store, flag.help);
}
CLI::Option* add_option(CLI::App& app, const Flag& flag, const Whole& kind) {
  const auto store = [name = flag.name, kind](const std::string& text) {
    std::int64_t value = 0;
    if (!parse(text, value) || value < kind.low || value > kind.high) {
      throw UserError("{} must be a whole number from {} to {}, not '{}'", name, kind.low, kind.high, text);
    }
    kind.store(value);
  };
  return app.add_option_function<std::string>(flag.name, store, flag.help)->type_name("N");
}
CLI::Option* add_option(CLI::App& app, const Flag& flag, const Number& kind) {
  const auto store = [name = flag.name, kind](const std::string& text) {
    double value = 0.0;
    if (!parse(text, value) || !(value >= kind.low && value <= kind.high)) {
      throw UserError("{} must be a number from {} to {}, not '{}'", name, kind.low, kind.high, text);
    }
    *kind.target = value;
  };
  return app.add_option_function<std::string>(flag.name, store, flag.help)->type_name("X");
}

void add_flags(CLI::App& app, const std::vector<Flag>& flags) {
  for (const Flag& flag : flags) {
    CLI::Option* const option = std::visit([&](const auto& kind) { return add_option(app, flag, kind); }, flag.target);
    if (!flag.type.empty()) option->type_name(flag.type);
    const auto* const kind = std::get_if<Switch>(&flag.target);
    if (kind != nullptr && !kind->excludes.empty()) option->excludes(app.get_option(kind->excludes));
  }
}

// A setting that was given like an option: how it is set.
std::string how_to_set(const CLI::App& app, const std::string& flag) {
  if (app.get_option_no_throw("--set") == nullptr) return "";
  const std::size_t begin = std::min(flag.find_first_not_of('-'), flag.size());
  const std::string key = flag.substr(begin, flag.find('=') - begin);
  const auto& keys = settings_keys();
  const bool known = std::any_of(keys.begin(), keys.end(), [&](const Key& entry) { return entry.name == key; });
  return known ? fmt::format(" (it is a setting: --set {}=…)", key) : "";
}

// Names what was not understood, with the nearest thing that would have been.
void refuse_extras(const CLI::App& root, const CLI::App& app) {
  const std::vector<std::string> extras = app.remaining();
  if (extras.empty()) return;
  const auto flag =
      std::find_if(extras.begin(), extras.end(), [](const std::string& text) { return text.starts_with("-"); });
  std::vector<std::string> known;
  if (flag != extras.end()) {
    for (const CLI::Option* option : app.get_options()) {
      for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
    }
    const std::string setting = how_to_set(app, *flag);
    throw UserError("unknown option '{}'{}; `{} --help` lists them", *flag,
                    setting.empty() ? did_you_mean(*flag, known) : setting,
                    &root == &app ? program_name() : program_name() + " " + app.get_name());
  }
  if (&root != &app) throw UserError("{} {} does not take '{}'", program_name(), app.get_name(), extras.front());
  for (const CLI::App* command : root.get_subcommands({})) known.push_back(command->get_name());
  throw UserError("unknown command '{}'{}; there are: {}", extras.front(), did_you_mean(extras.front(), known),
                  fmt::join(known, ", "));
}

// What the user asked for, ready to run.
std::function<int()> parse_command(int argc, const char* const* argv) {
  const auto root = std::make_shared<CLI::App>(overview(), program_name());
  root->set_version_flag("--version", kVersion);
  root->require_subcommand(0, 1);
  root->allow_extras();
  std::vector<Command> commands;
  for (const CommandEntry& entry : all_commands()) {
    CLI::App& app = *root->add_subcommand(entry.name, entry.summary);
    app.allow_extras();
    commands.push_back(entry.make());
    add_flags(app, commands.back().flags);
  }
  try {
    root->parse(argc, argv);
  } catch (const CLI::Success& request) {  // --help and --version
    return [code = root->exit(request)] { return code; };
  } catch (const CLI::ParseError& error) {
    throw UserError("{}", error.what());
  }
  refuse_extras(*root, *root);
  for (std::size_t i = 0; i < commands.size(); ++i) {
    const CLI::App& app = *root->get_subcommand(all_commands()[i].name);
    if (!app.parsed()) continue;
    refuse_extras(*root, app);
    const Given given = [root, &app](const std::string& flag) { return app.count(flag) > 0; };
    return [run = commands[i].run, given] { return run(given); };
  }
  say_lines(root->help());
  return [] { return 0; };
}

// Set aside for the moment in which there is no more, since even destructors ask for some (those of JSON do, and end
// the program if they do not get it). The first piece lets a small request pass that comes at that moment; the second
// is for the way out, when a request failed again.
std::atomic<void*> g_first_reserve = nullptr;
std::atomic<void*> g_last_reserve = nullptr;

void when_memory_is_out() {
  if (void* const piece = g_first_reserve.exchange(nullptr)) return std::free(piece);  // and it is tried again
  std::free(g_last_reserve.exchange(nullptr));
  throw std::bad_alloc();
}

void set_memory_aside() {
  constexpr std::size_t kReserve = 1 << 20;  // large enough for pages of its own, which go back to the system
  for (std::atomic<void*>* const reserve : {&g_first_reserve, &g_last_reserve}) {
    if (*reserve == nullptr) *reserve = std::malloc(kReserve);
  }
  std::set_new_handler(when_memory_is_out);
}

}  // namespace

int run_command_line(int argc, const char* const* argv) {
  // One who starts us may have it ignored; then the system would give away the numbers of our children, once they have
  // ended, before we know that they have.
  std::signal(SIGCHLD, SIG_DFL);
  set_memory_aside();
  try {
    if (argc > 0) set_program_name(argv[0]);
    set_command_words(argc, argv);
    return parse_command(argc, argv)();
  } catch (const UserError& error) {
    say(stderr, "{}: {}\n", program_name(), error.what());
    return 2;
  } catch (const std::filesystem::filesystem_error& error) {
    // A disk that fails in the middle of a folder's list, say.
    const std::string what = error.path1().empty() ? "a folder" : fmt::format("'{}'", error.path1().string());
    say(stderr, "{}: cannot use {}: {}\n", program_name(), what, error.code().message());
    return 2;
  } catch (const std::bad_alloc&) {
    // What was in the way is freed by now, but how much that was nobody knows: these ask for nothing.
    std::fputs(program_name().c_str(), stderr);
    std::fputs(": ", stderr);
    std::fputs(kOutOfMemory, stderr);
    std::fputs("\n", stderr);
    return 2;
  } catch (const std::exception& error) {
    say(stderr, "{}: internal error: {}\n", program_name(), error.what());
    return 1;
  }
}

}  // namespace cgpo
