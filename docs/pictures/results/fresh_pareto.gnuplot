set terminal svg size 900,700 background 'white' font 'sans,13'
set output 'fresh_pareto.svg'
set datafile separator ','
set logscale x
set multiplot layout 2,2
set ylabel 'updates over the limit (%)'
set xlabel 'steps until converged (1e6)'
set yrange [-1:40]
set key font ',10' samplen 1
set title 'cartpole'
plot 'fresh_pareto_cartpole_cgpo.csv' using 1:2 with points pt 4 ps 0.8 title 'cgpo', 'fresh_pareto_cartpole_cpo.csv' using 1:2 with points pt 5 ps 0.8 title 'cpo', 'fresh_pareto_cartpole_pdo.csv' using 1:2 with points pt 6 ps 0.8 title 'pdo', 'fresh_pareto_cartpole_appo.csv' using 1:2 with points pt 7 ps 0.8 title 'appo', 'fresh_pareto_cartpole_cup.csv' using 1:2 with points pt 8 ps 0.8 title 'cup'
set title 'reacher'
plot 'fresh_pareto_reacher_cgpo.csv' using 1:2 with points pt 4 ps 0.8 title 'cgpo', 'fresh_pareto_reacher_cpo.csv' using 1:2 with points pt 5 ps 0.8 title 'cpo', 'fresh_pareto_reacher_pdo.csv' using 1:2 with points pt 6 ps 0.8 title 'pdo', 'fresh_pareto_reacher_appo.csv' using 1:2 with points pt 7 ps 0.8 title 'appo', 'fresh_pareto_reacher_cup.csv' using 1:2 with points pt 8 ps 0.8 title 'cup'
set title 'halfcheetah'
plot 'fresh_pareto_halfcheetah_cgpo.csv' using 1:2 with points pt 4 ps 0.8 title 'cgpo', 'fresh_pareto_halfcheetah_cpo.csv' using 1:2 with points pt 5 ps 0.8 title 'cpo', 'fresh_pareto_halfcheetah_appo.csv' using 1:2 with points pt 7 ps 0.8 title 'appo'
set title 'ant'
plot 'fresh_pareto_ant_cgpo.csv' using 1:2 with points pt 4 ps 0.8 title 'cgpo', 'fresh_pareto_ant_pdo.csv' using 1:2 with points pt 6 ps 0.8 title 'pdo', 'fresh_pareto_ant_appo.csv' using 1:2 with points pt 7 ps 0.8 title 'appo'
