# Schedules of collectives, and the networks that they are simulated on: what needs no MPI library.

# An algorithm is a file: the list of all algorithms is generated from the files' names.
file(GLOB algorithm_sources CONFIGURE_DEPENDS ${collectives}/algorithms/*.cpp)
set(algorithm_declarations "")
set(algorithm_addresses "")
foreach(source IN LISTS algorithm_sources)
  get_filename_component(name ${source} NAME_WE)
  string(APPEND algorithm_declarations "extern const Algorithm ${name};\n")
  string(APPEND algorithm_addresses "&algorithms::${name}, ")
endforeach()
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/collectives/registry.cpp CONTENT
"#include \"firstlight/collectives/algorithm.hpp\"

namespace fl::collectives {

namespace algorithms {
${algorithm_declarations}}  // namespace algorithms

std::span<const Algorithm* const> all_algorithms() {
  static const Algorithm* const all[] = {${algorithm_addresses}};
  return all;
}

}  // namespace fl::collectives
")

file(GLOB collectives_sources CONFIGURE_DEPENDS ${collectives}/src/*.cpp)
add_library(collectives STATIC EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/collectives/registry.cpp ${algorithm_sources} ${collectives_sources})
target_include_directories(collectives PUBLIC ${collectives}/include)
target_compile_options(collectives PRIVATE ${harness_flags})
set_target_properties(collectives PROPERTIES POSITION_INDEPENDENT_CODE ON)

# Topologies, evaluators and the program `firstlight-simulate`, which needs no MPI.
file(GLOB network_sources CONFIGURE_DEPENDS ${network}/src/*.cpp)
if(network_sources)
  add_library(network STATIC EXCLUDE_FROM_ALL ${network_sources})
  target_include_directories(network PUBLIC ${network}/include)
  target_link_libraries(network PUBLIC collectives)
  target_compile_options(network PRIVATE ${harness_flags})
endif()
file(GLOB simulate_sources CONFIGURE_DEPENDS ${network}/simulate/*.cpp)
if(simulate_sources)
  add_executable(firstlight-simulate EXCLUDE_FROM_ALL ${simulate_sources} ${CMAKE_SOURCE_DIR}/native/harness/src/json.cpp)
  target_include_directories(firstlight-simulate PRIVATE ${CMAKE_SOURCE_DIR}/native/harness/include ${CMAKE_SOURCE_DIR}/native/harness/src)
  target_link_libraries(firstlight-simulate PRIVATE network)
  target_compile_options(firstlight-simulate PRIVATE ${harness_flags})
endif()
