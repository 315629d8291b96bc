# Programs of workloads. What a program needs is not known here: firstlight writes it, call by call, to FL_MANIFEST.

# init, cost and check of a workload live in its header; they are compiled once, never with the flags under test. The judge of a workload
# is the object <folder>/<workload>.o, which shows fl::workload and nothing else.
function(fl_judge folder workload header)
  if(TARGET ${workload}.judge)
    return()
  endif()
  set(judge ${CMAKE_BINARY_DIR}/judges/${workload}.cpp)
  file(CONFIGURE OUTPUT ${judge} CONTENT "#include \"${header}\"\n\n#include \"firstlight/program.hpp\"\n\nFL_WORKLOAD(${workload})\n")
  add_library(${workload}.judge OBJECT EXCLUDE_FROM_ALL ${judge})
  target_link_libraries(${workload}.judge PUBLIC harness)
  target_compile_options(${workload}.judge PRIVATE ${harness_flags})
  target_compile_definitions(${workload}.judge PRIVATE FL_JUDGE)
  get_filename_component(own ${header} DIRECTORY)
  target_include_directories(${workload}.judge PRIVATE ${own})
  if(TARGET ahead.parts)
    target_precompile_headers(${workload}.judge REUSE_FROM ahead.parts)
  endif()
  fl_closed(${CMAKE_BINARY_DIR}/${folder}/${workload}.o ${workload}.judge _ZN2fl8workloadE)
endfunction()

# fl_part(<name> <header>): <name>.part makes parts/<name>.o: the harness where there is no header, else the judge of the workload <name>.
function(fl_part name header)
  if(header)
    fl_judge(parts ${name} ${header})
  else()
    fl_closed(${CMAKE_BINARY_DIR}/parts/${name}.o harness.objects main _ZN2fl* _ZNK2fl* _ZTVN2fl*)
  endif()
  add_custom_target(${name}.part DEPENDS ${CMAKE_BINARY_DIR}/parts/${name}.o)
endfunction()

# An object that another compiler makes, once for all flag sets: the flags under test are not for it. Its output is stored with it.
function(fl_object object source own)
  get_property(known GLOBAL PROPERTY fl_objects)
  if(object IN_LIST known)
    return()
  endif()
  set_property(GLOBAL APPEND PROPERTY fl_objects ${object})
  get_filename_component(folder ${object} DIRECTORY)
  get_target_property(folders harness INTERFACE_INCLUDE_DIRECTORIES)
  list(TRANSFORM folders PREPEND -I)
  add_custom_command(OUTPUT ${object} DEPENDS ${source} DEPFILE ${object}.d VERBATIM
    COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
    COMMAND sh -c "\"$@\" 2> \"$0\"; status=$?; cat \"$0\" >&2; exit $status" ${object}.said
      ${ARGN} -I${own} ${folders} ${source} -o ${object} -MD -MF ${object}.d)
endfunction()

# fl_ahead(), after the last call of fl_program(): headers ahead for all that have as many companions with the same flags.
set(fl_ahead_of 8)
function(fl_ahead)
  get_property(groups GLOBAL PROPERTY fl_groups)
  list(REMOVE_DUPLICATES groups)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/ahead.cpp CONTENT "")
  foreach(group IN LISTS groups)
    get_property(targets GLOBAL PROPERTY fl_group_${group})
    get_property(flags GLOBAL PROPERTY fl_flags_${group})
    list(LENGTH targets many)
    if(many LESS fl_ahead_of)
      continue()
    endif()
    add_library(ahead.${group} OBJECT EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/ahead.cpp)
    target_link_libraries(ahead.${group} PRIVATE Threads::Threads)
    target_compile_options(ahead.${group} PRIVATE ${flags})
    target_precompile_headers(ahead.${group} PRIVATE ${fl_ahead_headers})
    foreach(target IN LISTS targets)
      target_precompile_headers(${target} REUSE_FROM ahead.${group})
    endforeach()
  endforeach()
endfunction()

# fl_program(<target> NAME <file> FOLDER <below bin/> WORKLOAD <name> HEADER <its header> SOURCES <own first>...
#   [JUDGE <its object>: else it is made here] [OWN_FLAGS ...: of the first source] [COMPILE_FLAGS ...] [FLAGS ...: compile and link all]
#   [LINK ...] [DEFINITIONS ...]
#   [OBJECT <file> OBJECT_SOURCE <file> OBJECT_COMMAND ...] [SCHEDULES])
function(fl_program target)
  cmake_parse_arguments(PARSE_ARGV 1 p "SCHEDULES" "NAME;FOLDER;WORKLOAD;HEADER;JUDGE;OBJECT;OBJECT_SOURCE"
    "SOURCES;OWN_FLAGS;COMPILE_FLAGS;FLAGS;LINK;DEFINITIONS;OBJECT_COMMAND")
  if(NOT p_JUDGE)
    fl_judge(judges ${p_WORKLOAD} ${p_HEADER})
    set(p_JUDGE ${CMAKE_BINARY_DIR}/judges/${p_WORKLOAD}.o)
  endif()
  get_filename_component(own ${p_HEADER} DIRECTORY)  # for what is in its folders kernels and broken
  if(p_OBJECT)
    set(object ${CMAKE_BINARY_DIR}/${p_OBJECT})
    fl_object(${object} ${p_OBJECT_SOURCE} ${own} ${p_OBJECT_COMMAND})
  endif()
  add_executable(${target} EXCLUDE_FROM_ALL ${p_SOURCES} ${object} ${p_JUDGE})
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME ${p_NAME}
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin/${p_FOLDER}
    Fortran_MODULE_DIRECTORY ${CMAKE_BINARY_DIR}/modules/${target}
    LINKER_LANGUAGE CXX)
  target_link_libraries(${target} PRIVATE harness ${p_LINK})
  target_include_directories(${target} PRIVATE ${own})
  target_compile_options(${target} PRIVATE ${p_FLAGS} ${p_COMPILE_FLAGS} ${watched_flags})
  target_link_options(${target} PRIVATE ${p_FLAGS})
  if(CMAKE_CXX_COMPILER_ID MATCHES "^(GNU|Clang)$" AND NOT p_OWN_FLAGS)
    set(flags ${p_FLAGS} ${p_COMPILE_FLAGS} ${watched_flags})
    string(MD5 group "${flags}")
    set_property(GLOBAL APPEND PROPERTY fl_groups ${group})
    set_property(GLOBAL APPEND PROPERTY fl_group_${group} ${target})
    set_property(GLOBAL PROPERTY fl_flags_${group} "${flags}")
  endif()
  target_compile_definitions(${target} PRIVATE FL_COMPILER="${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}" ${p_DEFINITIONS})
  if(p_OWN_FLAGS)
    list(GET p_SOURCES 0 own)
    set_source_files_properties(${own} TARGET_DIRECTORY ${target} PROPERTIES COMPILE_OPTIONS "${p_OWN_FLAGS}")
  endif()
  if(p_SCHEDULES)
    target_link_libraries(${target} PRIVATE executor)
  endif()
endfunction()
