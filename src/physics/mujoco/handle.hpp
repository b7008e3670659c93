// Private to this folder: MuJoCo's objects with owners, and its messages as exceptions.
#pragma once

#include <memory>
#include <mujoco/mujoco.h>
#include <string>

namespace cgpo {

struct MujocoDeleter {
  void operator()(mjModel* model) const { mj_deleteModel(model); }
  void operator()(mjData* data) const { mj_deleteData(data); }
};
using MujocoModel = std::unique_ptr<mjModel, MujocoDeleter>;
using MujocoData = std::unique_ptr<mjData, MujocoDeleter>;

// A size of MuJoCo's model. They are of 64 bits, and ours are ints: what a compiled model counts fits.
inline int count(mjtSize size) { return static_cast<int>(size); }

// Compiles an MJCF file or text. UserError with MuJoCo's own message in one sentence. MuJoCo's warnings are kept quiet:
// it would print them and write MUJOCO_LOG.TXT into the working folder.
MujocoModel compile_file(const std::string& path);
MujocoModel compile_text(const std::string& xml, const std::string& name);

// Numbers that are not finite, a time step that is not positive, a negative armature: UserError, naming the element.
// The compiler takes a NaN in some attributes for "not given", so those are looked for in the text of the file and of
// those that it includes.
void check_written_numbers(const std::string& xml, const std::string& file);
void check_compiled_numbers(const mjModel& model, const std::string& file);

// "geom 'foot'", or "geom 3 of body 'leg'" where it has no name.
std::string element_name(const mjModel& model, mjtObj type, int id);

}  // namespace cgpo
