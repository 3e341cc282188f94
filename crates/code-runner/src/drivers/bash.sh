# The shell of a session. Code arrives on descriptor 4 with a NUL after it; the exit code leaves on descriptor 5.
# Words that are no programs may be browser commands: those that were named in GANNET_DRIVER.
declare -r gannet_browser_commands=" $GANNET_DRIVER "
unset GANNET_DRIVER
exec 3<&-
command_not_found_handle() {
  if [[ $gannet_browser_commands == *" $1 "* ]]; then
    agent-browser "$@"
    return
  fi
  printf 'bash: %s: command not found\n' "$1" >&2
  return 127
}
printf '{"ready":true}\0' >&5
while IFS= read -r -d '' gannet_code <&4; do
  eval "$gannet_code" 4<&- 5>&-
  printf '{"exit_code":%d}\0' "$?" >&5
done
