// Where the steps of a variant for a device ran. For all other variants nothing here does anything.
#pragma once

#include "firstlight/device.hpp"
#include "firstlight/workload.hpp"
#include "recorder.hpp"

namespace fl {

// Why steps of this rank cannot run on a device; empty where they can, or are not meant to.
std::string lacks_device();
// Assigns to this rank one of the devices that its node has.
void choose_device();

// Records where the steps ran since construction or since the last forget().
class DeviceCheck {
 public:
  DeviceCheck() { forget(); }
  void forget();
  void query();                                       // the steps are over
  void record(Recorder& recorder, int number) const;  // collective
  bool off_device() const;                            // a step ran on the host, or is not known to have run on a device
  Check judged(const Check& found) const;             // a right result from another place than the one that is claimed is wrong

 private:
  device::Seen seen_;
};

}  // namespace fl
