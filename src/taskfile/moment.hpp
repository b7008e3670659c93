// Private to this folder: what the names of a task file mean at one moment of an episode.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cgpo/taskfile/syntax.hpp"
#include "cgpo/tasks/robots/robot.hpp"

namespace cgpo {

// The value of an expression: one number, or several.
struct Numbers {
  std::vector<Traced> at;
  bool is_vector = false;

  static Numbers one(const Traced& value) { return {{value}, false}; }
  static Numbers several(std::vector<Traced> values) { return {std::move(values), true}; }
  int size() const { return static_cast<int>(at.size()); }
};

// What holds for the whole task.
struct Vocabulary {
  std::map<std::string, double> options;
  std::map<std::string, Expression> defined;
  std::set<std::string> drawn;   // what is known at the start alone
  const Robot* robot = nullptr;  // null: there is none
  double period = 0.0;           // seconds of a step
  int horizon = 0;
  int substeps = 1;
  double dt() const { return period / substeps; }
};

// The random numbers that a start takes, as inputs of its graph, in the order in which they are drawn.
struct Draws {
  Graph* graph = nullptr;
  std::vector<bool> normal;  // or uniform between 0 and 1

  Traced draw(bool is_normal) {
    normal.push_back(is_normal);
    return {*graph, graph->add_input()};
  }
};

class Moment {
 public:
  Moment(const Vocabulary& words, std::string where) : words_(&words), where_(std::move(where)) {}

  const Vocabulary& words() const { return *words_; }
  const std::string& where() const { return where_; }  // "in the observation", for messages
  const Model& model() const { return *words_->robot->model; }
  // Made once, when somebody asks.
  const Kinematics<Traced>& kinematics(DofAxes axes);

  // What is not there is not known at this moment, and expressions that ask for it are refused.
  std::vector<Traced> q, v, activation;
  std::map<std::string, Numbers> states;
  std::optional<Numbers> action;
  std::optional<Numbers> previous_action;
  std::optional<Traced> clock;                            // substeps since the start
  Moment* before = nullptr;                               // what before(…) looks at
  std::function<Numbers(const std::string& state)> next;  // what next(…) gives; the name is that of a state
  Draws* draws = nullptr;
  // Where MuJoCo moves the robot: contact forces that it has measured, and, if somebody looks which ones a file asks
  // for, where they are noted.
  std::map<ContactTarget, std::vector<Traced>> measured;
  std::set<ContactTarget>* asked = nullptr;
  std::string unknown_because = {};  // why what was asked for last is not known; empty: nothing but the moment

  std::map<std::string, Numbers> known;  // definitions that were asked for
  std::set<std::string> open;            // those on their way: whoever needs one of them needs itself
  long work = 0;                         // numbers made so far

 private:
  const Vocabulary* words_;
  std::string where_;
  std::optional<Kinematics<Traced>> tree_, mujoco_;
};

// More than any task needs.
inline constexpr int kMostNumbers = 4096;     // of one vector
inline constexpr long kMostWork = 2'000'000;  // numbers made for one moment

// Throws UserError with place: an unknown name, sizes that do not fit. `wanted`: as many numbers as a draw gives.
Numbers evaluate(const Expression& expression, Moment& moment, int wanted = 1);

// The same; it must be one number, or `size` of them, which one number stands for as well. `what`, for the message.
Traced evaluate_one(const Expression& expression, Moment& moment, const std::string& what);
std::vector<Traced> evaluate_several(const Expression& expression, Moment& moment, int size, const std::string& what);

}  // namespace cgpo
