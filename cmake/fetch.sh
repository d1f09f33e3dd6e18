# shellcheck shell=bash
# Gets what the build and the tests need and this tree does not have: Debian packages, LibTorch, PyTorch for Python, the
# digits, the generator of the manual's site. Sourced by ./dev, which sets cache_dir and torch_version and has say() and die().
#
# What is fetched goes into one cache folder outside the tree, first into a folder *.partial that is renamed when it is
# complete: an interrupted run is repaired by the next one, and a finished step is never done again.

use_torch_version() {
  torch_version=$1
  torch_folder=$cache_dir/torch-$torch_version      # LibTorch alone: what the build needs
  python_folder=$cache_dir/python-$torch_version    # Python with all of PyTorch: what the interoperability tests need
}
digits_file=$cache_dir/digits/digits.csv.gz
digits_sha256=09f66e6debdee2cd2b5ae59e0d6abbb73fc2b0e0185d2e1957e9ebb51e23aa22

# patiently WHAT FOLDER COMMAND…: runs the command and says every 15 s that it still runs and how large FOLDER is.
patiently() {
  local what=$1 folder=$2 started=$SECONDS never status=0 ticker
  shift 2
  exec {never}<> <(:)  # never readable: `read` on it is a sleep that ends at once when the ticker is stopped
  while ! read -rt 15 -u "$never" && kill -0 $$ 2>/dev/null; do
    say "still $what: $(du -sh "$folder" 2>/dev/null | cut -f1) after $((SECONDS - started)) s"
  done 9>&- &
  ticker=$!
  "$@" || status=$?
  kill "$ticker" 2>/dev/null || true
  wait "$ticker" 2>/dev/null || true
  exec {never}>&-
  return $status
}

# ---- Debian packages ----

not_installed() {
  local package
  for package in "$@"; do
    dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || echo "$package"
  done
}

# need_packages PACKAGE…: installs what is missing of them, or prints the one line that does and stops.
need_packages() {
  if ! command -v dpkg-query >/dev/null; then
    say "this is not a Debian-like system, so nothing is installed; needed are: $*"
    return
  fi
  local missing as_root=()
  mapfile -t missing < <(not_installed "$@")
  ((${#missing[@]})) || return 0
  local line="apt-get update && apt-get install -y --no-install-recommends ${missing[*]}"
  if [[ $(id -u) != 0 ]]; then
    if ! command -v sudo >/dev/null || ! { sudo -n true 2>/dev/null || [[ -t 0 ]]; }; then
      die "${#missing[@]} Debian packages are missing and only root can install them. Run this as root, then come back:" \
          "$line"
    fi
    as_root=(sudo)
    say "installing packages with sudo, which may ask for your password"
  fi
  say "installing ${#missing[@]} Debian packages: ${missing[*]}"
  [[ ${missing[*]} != *libboost* || -n $(not_installed libboost1.74-dev) ]] ||
    say "libboost1.74-dev (libboost-dev) goes: Debian keeps the headers of one Boost only"
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300)
  say "(if another apt or dpkg is running, this waits up to 5 minutes for it)"
  "${apt[@]}" update || say "the package lists could not be renewed; trying with the old ones"
  "${apt[@]}" install -y --no-install-recommends "${missing[@]}" ||
    die "the packages could not be installed; apt says why above. As root, this is the whole of it:" "$line"
}

# The first Boost from 1.81 on that is installed or that apt knows.
boost_version() {
  local version
  for version in 1.81 1.83; do
    [[ -n $(not_installed "libboost$version-dev") ]] || { echo $version && return; }
  done
  for version in 1.81 1.83; do
    ! apt-cache show "libboost$version-dev" &>/dev/null || { echo $version && return; }
  done
  echo 1.81
}

# Wheels of torch are made for these Pythons; ensurepip is what Debian leaves to the package python3-venv.
usable_python() {
  "$1" -c 'import ensurepip, sys, venv; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 14))' &>/dev/null
}

need_tools() {
  local boost packages
  boost=$(boost_version)
  packages=(g++ cmake ninja-build ccache "libboost$boost-dev" "libboost-program-options$boost-dev"
            "libboost-json$boost-dev" libhwloc-dev libssl-dev libspdlog-dev zlib1g-dev libgtest-dev libgmock-dev make pkg-config
            procps)
  usable_python python3 || packages+=(python3 python3-venv)
  need_packages "${packages[@]}"
}

# ---- what is fetched ----

# Only one ./dev fetches at a time; the lock ends with `end_fetch`, or with the last process that holds it.
begin_fetch() {
  mkdir -p "$cache_dir"
  exec 9>>"$cache_dir/lock"
  flock -n 9 || { say "waiting for another ./dev that is filling $cache_dir" && flock 9; }
}
end_fetch() { exec 9>&-; }

need_space() {
  local free
  free=$(df --output=avail -BG "$cache_dir" | tail -n 1 | tr -dc 0-9)
  ((free >= $1)) || die "$cache_dir needs $1 GB for this and its disk has $free GB left." \
                        "Make room, or set XDG_CACHE_HOME to a folder on another disk."
}

# pip of a private environment: Debian's own Python refuses to install anything into itself.
pip() {
  local tool=$cache_dir/pip python=python3
  if [[ ! -x $tool/bin/python ]]; then
    usable_python python3 || python=/usr/bin/python3
    rm -rf "$tool" "$tool.partial"
    "$python" -m venv "$tool.partial"
    mv "$tool.partial" "$tool"
  fi
  "$tool/bin/python" -m pip --disable-pip-version-check "$@"
}

# The wheels of the CUDA runtime libraries that libtorch_cpu.so is linked with (no GPU is needed to load them), as the
# torch wheel in the folder requires them: by their own names, or as parts of cuda-toolkit.
cuda_wheels() {
  sed -nE -e 's/^Requires-Dist: (nvidia-cuda-(runtime|cupti)[^ ;]*).*/\1/p' \
          -e 's/^Requires-Dist: cuda-toolkit\[[^]]*\](==[^ ;]*).*/cuda-toolkit[cudart,cupti]\1/p' \
          "$1"/torch-*.dist-info/METADATA
}

fetch_libtorch() {
  local wheels
  pip install --no-deps --no-compile --target "$1" "torch==$torch_version" || return
  mapfile -t wheels < <(cuda_wheels "$1")
  ((${#wheels[@]} == 0)) || pip install --no-compile --target "$1" "${wheels[@]}"
}

torch_is_complete() { [[ -e $1/torch/lib/libtorch_cpu.so && -n $(find "$1/nvidia" -name 'libcudart.so.*' 2>/dev/null) ]]; }

# The folder of the active Python's torch, if there is one that the build can use.
active_torch() {
  command -v python3 >/dev/null || return 0
  python3 - <<'PYTHON' 2>/dev/null || true
import importlib.metadata, importlib.util, os
spec = importlib.util.find_spec("torch")
if spec:
    root = spec.submodule_search_locations[0]
    version = tuple(int(n) for n in importlib.metadata.version("torch").split("+")[0].split(".")[:2])
    if version >= (2, 7) and os.path.exists(root + "/lib/libtorch_cpu.so"):
        print(root)
PYTHON
}

# The torch of the Python of `version_wanted`, which the tests need as well: one download for both.
torch_of_interop_python() { compgen -G "$python_folder/lib/python3*/site-packages/torch" || true; }

get_torch() {
  local option partial=$torch_folder.partial
  torch_root=${Torch_ROOT:-}
  for option in "${cmake_options[@]}"; do
    [[ $option != -DTorch_ROOT* ]] || torch_root=${option#*=}
  done
  if [[ -n $torch_root ]]; then
    torch_root=$(cd "$caller_dir" && realpath -m "$torch_root")
    [[ -e $torch_root/lib/libtorch_cpu.so ]] ||
      die "Torch_ROOT is $torch_root, and there is no lib/libtorch_cpu.so in it." \
          "Give the folder that holds include/ and lib/, or nothing to have torch $torch_version fetched."
    return
  fi
  if [[ -z $version_wanted ]]; then
    torch_root=$(active_torch)
    [[ -z $torch_root ]] || return 0
  elif [[ -e $python_folder/ddprun-ready ]]; then
    torch_root=$(torch_of_interop_python)
    return
  fi
  torch_root=$torch_folder/torch
  ! torch_is_complete "$torch_folder" || return 0
  begin_fetch
  if ! torch_is_complete "$torch_folder"; then
    need_space 4
    say "fetching LibTorch $torch_version: 0.5 to 0.9 GB to download, up to 2 GB on disk, a minute or two on a fast line"
    rm -rf "$partial"
    mkdir -p "$partial/tmp"
    TMPDIR=$partial/tmp patiently "fetching LibTorch" "$partial" \
      fetch_libtorch "$partial/new" ||
      die "LibTorch could not be fetched: pip says why above (hashes that differ: the download was cut)." \
          "./dev $command begins this step again."
    torch_is_complete "$partial/new" || die "pip ended well, but $partial/new holds no complete LibTorch."
    rm -rf "$torch_folder"
    mv "$partial/new" "$torch_folder"
    rm -rf "$partial"
  fi
  end_fetch
}

# The tests know every operation of this version, no more and no less.
is_pinned_torch() {
  "$1" -c "import numpy, torch; assert torch.__version__.split('+')[0] == '$torch_version'" &>/dev/null
}

imports_torch() { "$1" -c 'import numpy, torch' &>/dev/null; }

# Also that pip was not stopped between two packages.
python_is_complete() {
  imports_torch "$1/bin/python" && "$1/bin/python" -m pip --disable-pip-version-check check &>/dev/null
}

get_interop_python() {
  local complete=$python_folder/ddprun-ready
  if [[ $torch_root == "$(active_torch)" ]] && is_pinned_torch python3; then
    interop_python=$(command -v python3)
    return
  fi
  interop_python=$python_folder/bin/python
  [[ ! -e $complete ]] || return 0
  begin_fetch
  # Without the mark the folder is what an interrupted run left, which may be whole all the same.
  if [[ ! -e $complete ]] && ! python_is_complete "$python_folder"; then
    need_space 10
    say "fetching PyTorch $torch_version for Python, which the interoperability tests run beside ours:" \
        "up to 2.6 GB to download, 4.7 GB on disk, two to five minutes on a fast line"
    pip --version >/dev/null  # makes the private environment, whose Python is also the right one here
    rm -rf "$python_folder"
    "$cache_dir/pip/bin/python" -m venv "$python_folder"
    mkdir "$python_folder/tmp"
    TMPDIR=$python_folder/tmp patiently "fetching PyTorch" "$python_folder" \
      "$interop_python" -m pip --disable-pip-version-check install "torch==$torch_version" numpy ||
      die "PyTorch could not be fetched: pip says why above (hashes that differ: the download was cut)." \
          "./dev $command begins this step again."
    rm -rf "$python_folder/tmp"
    python_is_complete "$python_folder" || die "pip ended well, but $interop_python cannot import torch and numpy."
  fi
  "$interop_python" -m pip --disable-pip-version-check --quiet install safetensors ||
    say "safetensors could not be fetched: the test that reads our files with it is left out"
  touch "$complete"
  end_fetch
}

digits_are_complete() { echo "$digits_sha256  $digits_file" | sha256sum --check --status 2>/dev/null; }

get_digits() {
  local partial=$cache_dir/digits.partial
  ! digits_are_complete || return 0
  begin_fetch
  say "fetching 1,797 images of handwritten digits: they come with scikit-learn, 9 MB to download"
  rm -rf "$partial"
  mkdir -p "$partial" "$(dirname "$digits_file")"
  # The wheel is only unpacked, so one made for any machine will do.
  pip download --quiet --no-deps --only-binary :all: --implementation cp --python-version 3.11 \
      --platform manylinux_2_28_x86_64 --platform manylinux_2_27_x86_64 --dest "$partial" scikit-learn==1.9.1 ||
    die "the digits could not be fetched: pip says why above. ./dev $command begins this step again."
  "$cache_dir/pip/bin/python" - "$partial" "$digits_file" <<'PYTHON'
import pathlib, sys, zipfile
wheel = next(pathlib.Path(sys.argv[1]).glob("*.whl"))
pathlib.Path(sys.argv[2]).write_bytes(zipfile.ZipFile(wheel).read("sklearn/datasets/data/digits.csv.gz"))
PYTHON
  digits_are_complete || die "$digits_file is not the file that was expected (its SHA-256 differs)."
  rm -rf "$partial"
  end_fetch
}

# Sets site_generator, of exactly the versions that docs/manual/requirements.txt names.
get_site_generator() {
  local wanted=docs/manual/requirements.txt folder=$cache_dir/site
  site_generator=$folder/bin/mkdocs
  ! cmp -s "$wanted" "$folder/requirements.txt" || return 0
  begin_fetch
  say "fetching the generator of the manual's site: 20 MB to download"
  pip --version >/dev/null  # makes the private environment, whose Python is also the right one here
  rm -rf "$folder"
  "$cache_dir/pip/bin/python" -m venv "$folder"
  "$folder/bin/python" -m pip --disable-pip-version-check --quiet install --no-deps --requirement "$wanted" ||
    die "the generator could not be fetched: pip says why above. ./dev $command begins this step again."
  "$folder/bin/python" -m pip --disable-pip-version-check check >/dev/null ||
    die "$wanted names versions that do not fit together"
  cp "$wanted" "$folder/"
  end_fetch
}
