# LibTorch as two imported targets of our own. find_package(Torch) of a CUDA wheel wants a CUDA toolkit and
# pulls 350 MB of libraries into every program; libtorch_cpu and libc10 need neither toolkit nor GPU.
#
# Looked for in this order: -DTorch_ROOT (the folder that holds include/ and lib/), the active Python's torch,
# the cache folder that `./dev` fills.

set(DDPRUN_TORCH_VERSION 2.11.0)

function(_ddprun_torch_candidates result)
  set(folders ${Torch_ROOT} $ENV{Torch_ROOT})
  if(NOT folders)
    find_program(DDPRUN_PYTHON python3)
    if(DDPRUN_PYTHON)
      execute_process(
        COMMAND ${DDPRUN_PYTHON} -c
                "import importlib.util as u; s = u.find_spec('torch'); print(s.submodule_search_locations[0] if s else '')"
        OUTPUT_VARIABLE active OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
      list(APPEND folders ${active})
    endif()
    set(cache $ENV{XDG_CACHE_HOME})
    if(NOT cache)
      set(cache $ENV{HOME}/.cache)
    endif()
    list(APPEND folders ${cache}/ddprun/torch-${DDPRUN_TORCH_VERSION}/torch)
  endif()
  set(${result} ${folders} PARENT_SCOPE)
endfunction()

function(_ddprun_import_torch root)
  file(STRINGS ${root}/include/torch/headeronly/version.h lines REGEX "define TORCH_VERSION_(MAJOR|MINOR|PATCH) ")
  if(NOT lines)
    file(STRINGS ${root}/include/torch/csrc/api/include/torch/version.h lines
         REGEX "define TORCH_VERSION_(MAJOR|MINOR|PATCH) ")
  endif()
  string(REGEX MATCHALL "[0-9]+" numbers "${lines}")
  list(JOIN numbers . version)
  if(version VERSION_LESS 2.7)
    message(FATAL_ERROR "LibTorch ${version} in ${root} is older than 2.7, the oldest one with the C++11 ABI "
                        "in its wheels. Install torch ${DDPRUN_TORCH_VERSION}, or let './dev build' do it.")
  endif()
  add_library(ddprun_c10 SHARED IMPORTED GLOBAL)
  set_target_properties(ddprun_c10 PROPERTIES IMPORTED_LOCATION ${root}/lib/libc10.so)
  add_library(ddprun_torch_cpu SHARED IMPORTED GLOBAL)
  set_target_properties(ddprun_torch_cpu PROPERTIES IMPORTED_LOCATION ${root}/lib/libtorch_cpu.so)
  add_library(ddprun_torch INTERFACE)
  target_include_directories(ddprun_torch SYSTEM INTERFACE ${root}/include ${root}/include/torch/csrc/api/include)
  target_compile_definitions(ddprun_torch INTERFACE USE_DISTRIBUTED USE_C10D_GLOO)
  # The libraries of the wheel find what they need through their own RPATH at run time.
  target_link_libraries(ddprun_torch INTERFACE ddprun_torch_cpu ddprun_c10 -Wl,--allow-shlib-undefined)
  add_library(ddprun::torch ALIAS ddprun_torch)
  set(Torch_FOUND_ROOT ${root} CACHE INTERNAL "")
  message(STATUS "LibTorch ${version}: ${root}")
endfunction()

if(NOT DDPRUN_SDK STREQUAL OFF)
  _ddprun_torch_candidates(torch_folders)
  foreach(folder IN LISTS torch_folders)
    if(NOT TARGET ddprun_torch AND EXISTS ${folder}/lib/libtorch_cpu.so)
      _ddprun_import_torch(${folder})
    endif()
  endforeach()
  if(NOT TARGET ddprun_torch)
    set(torch_missing "LibTorch was not found (looked in: ${torch_folders}). Give -DTorch_ROOT=FOLDER, the one with "
                      "include/ and lib/, or let './dev build' fetch torch ${DDPRUN_TORCH_VERSION}.")
    if(DDPRUN_SDK STREQUAL ON)
      message(FATAL_ERROR ${torch_missing})
    endif()
    message(STATUS ${torch_missing} " worker_sdk and samples are left out.")
  endif()
endif()
