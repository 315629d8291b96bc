// What the variants with directives share: fields that are on the device from open() to close(), and what a sweep is given of them.
#pragma once

#include "firstlight/device.hpp"
#include "firstlight/variant.hpp"
#include "kernels.hpp"
#include "run.hpp"

namespace himeno::device {

// Where element 0 of a field is on the device, from now on.
inline float* place(Field& field) {
  float* data = field.data();
  [[maybe_unused]] const Index n = field.layout().elements;
  float* there = nullptr;
#if defined(_OPENACC)
#pragma acc enter data copyin(data[0 : n])
#pragma acc host_data use_device(data)
#else
#pragma omp target enter data map(to : data[0 : n])
#pragma omp target data use_device_ptr(data)
#endif
  { there = data; }
  return there;
}
inline void remove(Field& field) {
  [[maybe_unused]] float* data = field.data();
  [[maybe_unused]] const Index n = field.layout().elements;
#if defined(_OPENACC)
#pragma acc exit data delete (data[0 : n])
#else
#pragma omp target exit data map(delete : data[0 : n])
#endif
}
inline void send(Field& field) {
  [[maybe_unused]] float* data = field.data();
  [[maybe_unused]] const Index n = field.layout().elements;
#if defined(_OPENACC)
#pragma acc update device(data[0 : n])
#else
#pragma omp target update to(data[0 : n])
#endif
}
inline void fetch(Field& field) {
  [[maybe_unused]] float* data = field.data();
  [[maybe_unused]] const Index n = field.layout().elements;
#if defined(_OPENACC)
#pragma acc update self(data[0 : n])
#else
#pragma omp target update from(data[0 : n])
#endif
}

// sweep(job) computes all points of a job and returns the sum of ss * ss.
template <double (*sweep)(const Job&)>
class Directed {
 public:
  void open(State& s) {
    s.upload = [&s] {
      for (Field* field : {&s.p, &s.next, &s.wrk1}) send(*field);
    };
    s.download = [&s] { fetch(s.p); };
    const float* in[12];
    each_coefficient(s, [&](Field& field, Coefficient which) { in[static_cast<int>(which)] = place(field) + field.layout().first; });
    job_.coefficients = {{in[0], in[1], in[2], in[3]}, {in[4], in[5], in[6]}, {in[7], in[8], in[9]}, in[10], in[11]};
    for (std::size_t d = 0; d < 3; ++d) {
      job_.stride[d] = s.bnd.layout().stride[d];
      job_.upper[d] = static_cast<int>(s.block.size()[d]);
    }
    p_ = place(s.p);
    next_ = place(s.next);
  }
  void step(State& s, Index) {
    for (Index t = 0; t < s.params.sweeps; ++t, std::swap(s.p, s.next), std::swap(p_, next_)) {
      job_.p = constant(s.p.view(p_));
      job_.next = s.next.view(next_);
      s.gosa = sweep(job_);
    }
  }
  void close(State& s) {
    each_coefficient(s, [](Field& field, Coefficient) { remove(field); });
    for (Field* field : {&s.p, &s.next}) remove(*field);
  }

 private:
  Job job_;
  float *p_ = nullptr, *next_ = nullptr;  // on the device, as s.p and s.next are here
};

// One point of a job, and its ss * ss; the first notes where it is computed.
FL_DEVICE double point(const Job& job, int i, int j, int k) {
  if (i + j + k == 0) fl::device::note();
  return update(job, i, j, k, Number{}, Around<float, Number>{&job.p(i, j, k), job.p.stride[0], job.p.stride[1], {}});
}

}  // namespace himeno::device
