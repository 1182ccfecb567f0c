# A form, and the letter whose order is to be copied into it. The seed, the first argument, chooses the letter. The order is
# sent a moment after the click, when what was typed just before has been read.
left=$((($1 % 1000003 * 7919 + 104729) % 1000003))

choose() {
  chosen=$((left % $# + 1))
  left=$((left / $#))
  eval "chosen=\$$chosen"
}

choose "Ada Lovelace" "Alan Turing" "Grace Hopper" "Emmy Noether" "Max Born"; name=$chosen
choose Oslo Lima Cairo Quebec Perth Kyoto Turin; town=$chosen
choose 2 3 4 5 6 7 8 9 12 15 20; amount=$chosen
choose small medium large; size=$chosen

exec yad --form --undecorated --geometry=800x600+0+0 --borders=16 --no-buttons \
  --text="Please send me $amount kites of size $size to $town.  Yours, $name" \
  --field=Name: "" --field=Town: "" --field=Kites::NUM "1!1..50" --field=Size::CB "!small!medium!large" \
  --field=Send:FBTN "sh -c 'sleep 0.25; echo sent'"
