// What the conjugate gradients must do on the way, from independent implementations of both preconditioners (tests/support/fem2d_oracle.py for
// levels 0 to 2). A preconditioner that is a little wrong still converges to the right solution: these numbers reveal it.
#pragma once

#include "firstlight/workload.hpp"

namespace fem2d {

// Updates of x to 1e-6 for problem R, levels 0..11 (computed up to 8, published by R1 beyond).
inline constexpr int reference_iterations[] = {36, 39, 41, 42, 43, 44, 44, 45, 45, 44, 47, 48};

// The same with a V-cycle as preconditioner (computed up to 8).
inline constexpr int v_cycle_iterations[] = {8, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9};

inline constexpr fl::Index looked_at[] = {0, 2, 5};  // updates of x

struct Course {
  int iterations[4];  // to 1e-6, 1e-8, 1e-10 and 1e-12
  double rho[3];      // r^T C^-1 r of problem R with g = 1, after `looked_at` updates
};

// By level, from 0.
inline constexpr Course course_of_bpx[] = {
    {{36, 45, 52, 59}, {9.027777778e+00, 8.382559584e-01, 2.003830008e-01}},
    {{39, 48, 56, 63}, {2.032291667e+01, 1.376951425e+00, 2.730170277e-01}},
    {{41, 51, 59, 67}, {4.296961806e+01, 2.498220998e+00, 4.173169008e-01}},
    {{42, 54, 62, 70}, {8.829275174e+01, 4.680306998e+00, 5.917054556e-01}},
    {{43, 55, 64, 72}, {1.789542643e+02, 8.747945282e+00, 7.868442977e-01}},
    {{44, 56, 65, 74}, {3.602850070e+02, 1.609614488e+01, 1.086255539e+00}},
    {{44, 56, 66, 76}, {7.229503750e+02, 2.922214600e+01, 1.639458694e+00}},
    {{45, 56, 67, 77}, {1.448283058e+03, 5.297070658e+01, 2.690192407e+00}},
};
inline constexpr Course course_of_v_cycle[] = {
    {{8, 11, 14, 16}, {1.663900261e+01, 5.978640692e-03, 1.807800638e-07}},
    {{9, 12, 15, 17}, {3.108052799e+01, 4.362274727e-02, 1.581439273e-06}},
    {{9, 12, 15, 18}, {6.016118179e+01, 1.113207428e-01, 5.023823824e-06}},
    {{9, 12, 15, 18}, {1.183055861e+02, 2.355928147e-01, 1.140954363e-05}},
    {{9, 12, 15, 18}, {2.345342798e+02, 4.729320265e-01, 2.306039065e-05}},
    {{9, 12, 15, 18}, {4.669221416e+02, 9.375770497e-01, 4.333638496e-05}},
    {{9, 12, 15, 18}, {9.316260535e+02, 1.857609797e+00, 7.749893212e-05}},
    {{9, 12, 15, 18}, {1.860961406e+03, 3.688911882e+00, 1.350854974e-04}},
};
inline constexpr fl::Index courses_up_to = 7;

}  // namespace fem2d
