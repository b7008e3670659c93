// Private to this folder: what expressions can ask of an environment, one table for names and one for things that have
// members.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cgpo/taskfile/moment.hpp"

namespace cgpo {

// A name by itself: qpos, time, pi.
struct NameRow {
  std::string_view name;
  std::string_view size;  // in words: "nq", "1"
  std::string_view meaning;
  bool of_robot = false;  // there is one only with a robot
  // Nothing: it is not known at this moment.
  std::optional<Numbers> (*read)(Moment&) = nullptr;
};
std::span<const NameRow> name_rows();

// What has a name in the MJCF file, and members: body("torso").position.
enum class ThingKind : unsigned char { kBody, kJoint, kSite, kGeom, kActuator, kCentre };
struct ThingRow {
  ThingKind kind;
  std::string_view word;  // "body"
  bool named = true;      // body("torso"), but com.position
  std::vector<std::string> (*names)(const Model&) = nullptr;
};
std::span<const ThingRow> thing_rows();

struct MemberRow {
  ThingKind kind;
  std::string_view member;
  std::string_view size;
  std::string_view meaning;
  std::optional<Numbers> (*read)(Moment&, int id) = nullptr;
};
std::span<const MemberRow> member_rows();

// Whether a name fits a pattern, in which * stands for any letters and ? for one.
bool fits(std::string_view pattern, std::string_view name);
bool is_pattern(std::string_view text);

}  // namespace cgpo
