#include "describe.hpp"

#include "firstlight/program.hpp"
#include "firstlight/variant.hpp"
#include "json.hpp"

namespace fl {
namespace {

class Describer final : public Fields {
 public:
  explicit Describer(Json& json) : json_(json) {}
  void integer(const char* name, Index& value, const char* unit, Index, Index, const char* help) override {
    member(name, unit, std::to_string(value), help);
  }
  void choice(const char* name, std::string& value, const char* options, const char* help) override {
    member(name, "", value, std::string(help) + " (" + options + ")");
  }

 private:
  void member(const char* name, const char* unit, const std::string& standard, const std::string& help) {
    json_.open('{').member("name", name).member("unit", unit).member("default", standard).member("help", help).close('}');
  }
  Json& json_;
};

}  // namespace

std::string describe() {
  Json json;
  const About& about = *workload.about;
  json.open('{').member("workload", workload.name).member("variant", variant.name).member("title", about.title);
  json.key("parameters").open('[');
  Describer describer(json);
  workload.create()->declare(describer);
  json.close(']').key("metrics").open('[');
  for (std::size_t i = 0; i < workload.metric_count; ++i) {
    const Metric& metric = workload.metrics[i];
    json.open('{').member("name", metric.name).member("unit", metric.unit).member("quantity", metric.quantity);
    json.member("form", metric.form).member("scale", metric.scale).member("better", metric.better).close('}');
  }
  json.close(']').member("unverified", variant.unverified == nullptr ? "" : variant.unverified);
  json.member("cost", about.cost).member("verified", about.verified).member("tolerance", about.tolerance).close('}');
  return json.text();
}

}  // namespace fl
