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

# ddprun::torch_cuda, where LibTorch has CUDA and both CUDA's and NCCL's headers are there. No library of the
# toolkit is linked. NCCL's header must be of the version that LibTorch was built with, so the one of the wheel's
# own dependency goes first; the versions are compared when the plug-in is loaded.
function(_ddprun_import_torch_cuda root)
  find_path(DDPRUN_CUDA_INCLUDE cuda_runtime_api.h
            HINTS $ENV{CUDA_HOME}/include /usr/local/cuda/include ${root}/../nvidia/cu13/include)
  find_path(DDPRUN_NCCL_INCLUDE nccl.h HINTS ${root}/../nvidia/nccl/include ${DDPRUN_CUDA_INCLUDE})
  mark_as_advanced(DDPRUN_CUDA_INCLUDE DDPRUN_NCCL_INCLUDE)
  if(NOT EXISTS ${root}/lib/libtorch_cuda.so)
    message(STATUS "NCCL backend: left out, this LibTorch has no CUDA")
  elseif(NOT DDPRUN_CUDA_INCLUDE OR NOT EXISTS ${DDPRUN_CUDA_INCLUDE}/cublas_v2.h)
    message(STATUS "NCCL backend: left out, the CUDA toolkit's headers were not found")
  elseif(NOT DDPRUN_NCCL_INCLUDE)
    message(STATUS "NCCL backend: left out, nccl.h was not found")
  else()
    foreach(library torch_cuda c10_cuda)
      add_library(ddprun_lib${library} SHARED IMPORTED GLOBAL)
      set_target_properties(ddprun_lib${library} PROPERTIES IMPORTED_LOCATION ${root}/lib/lib${library}.so)
    endforeach()
    add_library(ddprun_torch_cuda INTERFACE)
    target_include_directories(ddprun_torch_cuda SYSTEM INTERFACE ${DDPRUN_CUDA_INCLUDE} ${DDPRUN_NCCL_INCLUDE})
    target_compile_definitions(ddprun_torch_cuda INTERFACE USE_C10D_NCCL)
    # They register themselves when they are loaded, so they are needed though nothing refers to them.
    target_link_libraries(ddprun_torch_cuda INTERFACE -Wl,--no-as-needed ddprun_libtorch_cuda ddprun_libc10_cuda
                                                      ddprun::torch)
    add_library(ddprun::torch_cuda ALIAS ddprun_torch_cuda)
    message(STATUS "NCCL backend: nccl.h in ${DDPRUN_NCCL_INCLUDE}, CUDA in ${DDPRUN_CUDA_INCLUDE}")
  endif()
endfunction()

function(_ddprun_torch_version root result)
  foreach(header include/torch/headeronly/version.h include/torch/csrc/api/include/torch/version.h)
    if(NOT lines AND EXISTS ${root}/${header})
      file(STRINGS ${root}/${header} lines REGEX "define TORCH_VERSION_(MAJOR|MINOR|PATCH) ")
    endif()
  endforeach()
  string(REGEX MATCHALL "[0-9]+" numbers "${lines}")
  list(JOIN numbers . version)
  set(${result} "${version}" PARENT_SCOPE)
endfunction()

function(_ddprun_import_torch root version)
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
  _ddprun_import_torch_cuda(${root})
  message(STATUS "LibTorch ${version}: ${root}")
endfunction()

if(NOT DDPRUN_SDK STREQUAL OFF)
  _ddprun_torch_candidates(torch_folders)
  foreach(folder IN LISTS torch_folders)
    if(NOT TARGET ddprun_torch AND EXISTS ${folder}/lib/libtorch_cpu.so)
      _ddprun_torch_version(${folder} version)
      if(version VERSION_LESS 2.7)
        message(STATUS "LibTorch ${version} in ${folder} is passed over: 2.7 is the first with the C++11 ABI in its wheels")
      else()
        _ddprun_import_torch(${folder} ${version})
      endif()
    endif()
  endforeach()
  if(NOT TARGET ddprun_torch)
    list(REMOVE_DUPLICATES torch_folders)
    list(JOIN torch_folders ", " torch_folders)
    set(torch_missing "No LibTorch of 2.7 or newer was found (looked in: ${torch_folders}). Give -DTorch_ROOT=FOLDER, the one "
                      "with include/ and lib/, or let './dev build' fetch torch ${DDPRUN_TORCH_VERSION}.")
    if(DDPRUN_SDK STREQUAL ON)
      message(FATAL_ERROR ${torch_missing})
    endif()
    message(STATUS ${torch_missing} " worker_sdk and samples are left out.")
  endif()
endif()

# ddprun_uses_torch(TARGET): links LibTorch and shares one precompiled <torch/torch.h>, which costs a minute
# once and saves ten seconds in every source file. One for all, so all are compiled with -fPIC; the
# header names nothing of c10d, so that a source file still has to include what it uses of it.
function(ddprun_uses_torch target)
  target_link_libraries(${target} PRIVATE ddprun::torch ddprun_warnings)
  target_compile_options(${target} PRIVATE -fPIC)
  if(NOT TARGET ddprun_torch_pch)
    add_library(ddprun_torch_pch OBJECT ${PROJECT_SOURCE_DIR}/cmake/torch_pch.cpp)
    target_link_libraries(ddprun_torch_pch PRIVATE ddprun::torch ddprun_warnings)
    target_compile_options(ddprun_torch_pch PRIVATE -fPIC)
    target_precompile_headers(ddprun_torch_pch PRIVATE <torch/torch.h>)
  endif()
  target_precompile_headers(${target} REUSE_FROM ddprun_torch_pch)
endfunction()
