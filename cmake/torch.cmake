# LibTorch for this build: ddprun::torch where it was found, its folder and version in DDPRUN_TORCH_FOLDER and
# DDPRUN_TORCH_FOUND_VERSION, and ddprun_uses_torch() for the targets that need it.
include(libtorch)
include(cuda)

set(DDPRUN_TORCH_VERSION 2.11.0)

if(NOT DDPRUN_SDK STREQUAL OFF)
  ddprun_libtorch_folders(torch_folders ${DDPRUN_TORCH_VERSION})
  foreach(folder IN LISTS torch_folders)
    ddprun_libtorch_version(version ${folder})
    if(version AND version VERSION_LESS 2.7)
      message(STATUS "LibTorch ${version} in ${folder} is passed over: 2.7 is the first with the C++11 ABI in its wheels")
    elseif(version AND NOT TARGET ddprun::torch)
      set(DDPRUN_TORCH_FOLDER ${folder})
      set(DDPRUN_TORCH_FOUND_VERSION ${version})
      ddprun_import_libtorch(${folder})
      message(STATUS "LibTorch ${version}: ${folder}")
      ddprun_import_torch_cuda(${folder})
    endif()
  endforeach()
  if(NOT TARGET ddprun::torch)
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
