# The headers of CUDA and NCCL, for the NCCL backend alone. No library of the toolkit is linked.

set(ddprun_cuda_headers cuda_runtime_api.h cublas_v2.h cusparse.h cusolverDn.h)

# ddprun_find_cuda_headers(FOLDER): sets DDPRUN_CUDA_INCLUDE, a list of folders that together hold what LibTorch's
# headers include, and DDPRUN_NCCL_INCLUDE. The wheels that a LibTorch was installed with go first: NCCL's header must
# be of the version that LibTorch was built with. (The versions are compared again when the plug-in is loaded.)
function(ddprun_find_cuda_headers folder)
  file(GLOB wheels ${folder}/../nvidia/*/include)
  set(DDPRUN_CUDA_INCLUDE "" CACHE STRING "Folders with the headers of the CUDA toolkit; empty: looked for")
  foreach(candidate "${wheels}" "$ENV{CUDA_HOME}/include" /usr/local/cuda/include /usr/include)
    set(complete TRUE)
    foreach(header IN LISTS ddprun_cuda_headers)
      find_file(found ${header} PATHS ${candidate} NO_DEFAULT_PATH NO_CACHE)
      if(NOT found)
        set(complete FALSE)
      endif()
      unset(found)
    endforeach()
    if(complete AND NOT DDPRUN_CUDA_INCLUDE)
      set(DDPRUN_CUDA_INCLUDE ${candidate})
    endif()
  endforeach()
  find_path(DDPRUN_NCCL_INCLUDE nccl.h HINTS ${wheels} ${DDPRUN_CUDA_INCLUDE})
  mark_as_advanced(DDPRUN_CUDA_INCLUDE DDPRUN_NCCL_INCLUDE)
  set(DDPRUN_CUDA_INCLUDE "${DDPRUN_CUDA_INCLUDE}" PARENT_SCOPE)
endfunction()

# ddprun_import_torch_cuda(FOLDER): makes ddprun::torch_cuda where the LibTorch in FOLDER has CUDA and both CUDA's and
# NCCL's headers are there.
function(ddprun_import_torch_cuda folder)
  ddprun_find_cuda_headers(${folder})
  if(NOT EXISTS ${folder}/lib/libtorch_cuda.so)
    message(STATUS "NCCL backend: left out, this LibTorch has no CUDA")
  elseif(NOT DDPRUN_CUDA_INCLUDE)
    message(STATUS "NCCL backend: left out, the CUDA toolkit's headers were not found")
  elseif(NOT DDPRUN_NCCL_INCLUDE)
    message(STATUS "NCCL backend: left out, nccl.h was not found")
  else()
    foreach(library torch_cuda c10_cuda)
      add_library(ddprun::lib${library} SHARED IMPORTED GLOBAL)
      set_target_properties(ddprun::lib${library} PROPERTIES IMPORTED_LOCATION ${folder}/lib/lib${library}.so)
    endforeach()
    add_library(ddprun::torch_cuda INTERFACE IMPORTED GLOBAL)
    target_include_directories(ddprun::torch_cuda SYSTEM INTERFACE ${DDPRUN_NCCL_INCLUDE} ${DDPRUN_CUDA_INCLUDE})
    target_compile_definitions(ddprun::torch_cuda INTERFACE USE_C10D_NCCL)
    # They register themselves when they are loaded, so they are needed though nothing refers to them.
    target_link_libraries(ddprun::torch_cuda INTERFACE -Wl,--no-as-needed ddprun::libtorch_cuda ddprun::libc10_cuda
                                                       ddprun::torch)
    message(STATUS "NCCL backend: nccl.h in ${DDPRUN_NCCL_INCLUDE}, CUDA in ${DDPRUN_CUDA_INCLUDE}")
  endif()
endfunction()
