# Pictures of docs/physics/contact.md; contact_sweep.sh calls it with the folder of the CSV files.
set datafile separator ","
set terminal svg size 860,380 font "sans,12" background "white"
set key below samplen 2 maxrows 2
set grid lc rgb "#dddddd"
mujoco = "#888888"; fine = "#000000"; chosen = "#1f6fb4"; without = "#d95f02"; third = "#1b9e77"

set output folder."/contact_falls.svg"
set multiplot layout 1,2
set xlabel "s"; set ylabel "height of the torso, m"; set yrange [0.5:0.85]
falls = folder."/contact_falls.csv"
set title "An ant dropped"
plot falls using 1:2 with lines lw 2 lc rgb mujoco title "MuJoCo, 10 ms", "" using 1:3 with lines lw 2 lc rgb fine title "MuJoCo, 1 ms", \
     "" using 1:4 with lines lw 2 lc rgb chosen title "ours", "" using 1:5 with lines lw 2 dt 2 lc rgb without title "ours without slip lift"
set title "Its legs drawn in, then struck down"
plot falls using 1:6 with lines lw 2 lc rgb mujoco title "MuJoCo, 10 ms", "" using 1:7 with lines lw 2 lc rgb fine title "MuJoCo, 1 ms", \
     "" using 1:8 with lines lw 2 lc rgb chosen title "ours", "" using 1:9 with lines lw 2 dt 2 lc rgb without title "ours without slip lift"
unset multiplot

set terminal svg size 560,360 font "sans,12" background "white"
set output folder."/contact_slides.svg"
set title "A ball set on the floor at 3 m/s, friction 1"
set ylabel "height, m"; set yrange [-0.03:0.14]
plot folder."/contact_slides.csv" using 1:2 with lines lw 2 lc rgb mujoco title "MuJoCo, 10 ms", "" using 1:3 with lines lw 2 lc rgb fine title "MuJoCo, 1 ms", \
     "" using 1:4 with lines lw 2 lc rgb chosen title "ours", "" using 1:5 with lines lw 2 dt 2 lc rgb without title "ours without slip lift"

set terminal svg size 860,380 font "sans,12" background "white"
set output folder."/contact_gain.svg"
set multiplot layout 1,2
set xlabel "window, steps"; set ylabel "median gain of ∂x"; set logscale y; set yrange [10:1e7]
set title "ant"
plot for [i=0:2] folder."/contact_gain_ant.csv" using 1:(column(2 + 2 * i)) with linespoints pt 7 ps 0.4 lw 2 \
     lc rgb word(chosen." ".third." ".without, i + 1) title word('chosen "k 2000, c 20" "k 20000, c 200, w .005"', i + 1)
set title "halfcheetah"
plot for [i=0:2] folder."/contact_gain_halfcheetah.csv" using 1:(column(2 + 2 * i)) with linespoints pt 7 ps 0.4 lw 2 \
     lc rgb word(chosen." ".third." ".without, i + 1) title word('chosen "k 50000, c 500" "k 250000, c 2500, w .002"', i + 1)
unset multiplot
unset logscale y

set output folder."/contact_random.svg"
set multiplot layout 1,2
set xlabel "s"; set ylabel "m"; set yrange [*:*]
do for [robot in "ant halfcheetah"] {
  set title robot.", the same random actions"
  file = folder."/contact_random_".robot.".csv"
  plot file using 1:2 with lines lw 2 lc rgb chosen title "height, ours", file using 1:4 with lines lw 2 lc rgb mujoco title "height, MuJoCo", \
       file using 1:3 with lines lw 2 dt 2 lc rgb chosen title "x, ours", file using 1:5 with lines lw 2 dt 2 lc rgb mujoco title "x, MuJoCo"
}
unset multiplot
