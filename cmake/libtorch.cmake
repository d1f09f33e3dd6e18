# LibTorch as imported targets of our own. find_package(Torch) of a CUDA wheel wants a CUDA toolkit and
# pulls 350 MB of libraries into every program; libtorch_cpu and libc10 need neither toolkit nor GPU.
# Used by the build and, installed, by find_package(ddprun COMPONENTS worker_sdk).

# ddprun_libtorch_folders(RESULT VERSION): where to look for LibTorch, in this order: Torch_ROOT (the folder that
# holds include/ and lib/) and nowhere else if it is given; what find_package(Torch) has found; CMAKE_PREFIX_PATH, also
# as torch.utils.cmake_prefix_path gives it; the active Python's torch; the cache folder of `./dev` for VERSION.
function(ddprun_libtorch_folders result version)
  set(folders ${Torch_ROOT} $ENV{Torch_ROOT})
  if(NOT folders)
    set(folders ${TORCH_INSTALL_PREFIX})
    foreach(prefix IN LISTS CMAKE_PREFIX_PATH)
      foreach(above . ../..)
        get_filename_component(folder ${prefix}/${above} ABSOLUTE)
        if(EXISTS ${folder}/lib/libtorch_cpu.so)
          list(APPEND folders ${folder})
        endif()
      endforeach()
    endforeach()
    find_program(DDPRUN_PYTHON python3)
    mark_as_advanced(DDPRUN_PYTHON)
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
    list(APPEND folders ${cache}/ddprun/torch-${version}/torch)
  endif()
  list(REMOVE_DUPLICATES folders)
  set(${result} ${folders} PARENT_SCOPE)
endfunction()

# ddprun_libtorch_version(RESULT FOLDER): "2.11.0"; empty where there is no LibTorch in it.
function(ddprun_libtorch_version result folder)
  if(EXISTS ${folder}/lib/libtorch_cpu.so)
    foreach(header include/torch/headeronly/version.h include/torch/csrc/api/include/torch/version.h)
      if(NOT lines AND EXISTS ${folder}/${header})
        file(STRINGS ${folder}/${header} lines REGEX "define TORCH_VERSION_(MAJOR|MINOR|PATCH) ")
      endif()
    endforeach()
    string(REGEX MATCHALL "[0-9]+" numbers "${lines}")
    list(JOIN numbers . version)
  endif()
  set(${result} "${version}" PARENT_SCOPE)
endfunction()

# ddprun_import_libtorch(FOLDER): makes ddprun::torch, its libraries and its headers.
function(ddprun_import_libtorch folder)
  foreach(library torch_cpu c10)
    add_library(ddprun::lib${library} SHARED IMPORTED GLOBAL)
    set_target_properties(ddprun::lib${library} PROPERTIES IMPORTED_LOCATION ${folder}/lib/lib${library}.so)
  endforeach()
  add_library(ddprun::torch INTERFACE IMPORTED GLOBAL)
  target_include_directories(ddprun::torch SYSTEM INTERFACE ${folder}/include ${folder}/include/torch/csrc/api/include)
  target_compile_definitions(ddprun::torch INTERFACE USE_DISTRIBUTED USE_C10D_GLOO)
  # The libraries of the wheel find what they need through their own RPATH at run time.
  target_link_libraries(ddprun::torch INTERFACE ddprun::libtorch_cpu ddprun::libc10 -Wl,--allow-shlib-undefined)
endfunction()
