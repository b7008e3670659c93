// Single motions on our engine beside MuJoCo's, as CSV.
#pragma once

#include <string>

namespace cgpo::contact {

void print_falls();   // the ant dropped, and its legs drawn in and struck against the floor: height of the torso
void print_slides();  // a ball set down sliding: its height
void print_random(const std::string& robot);  // one episode's first 2 s: height and x of the torso

}  // namespace cgpo::contact
