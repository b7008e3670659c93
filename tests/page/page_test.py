"""The pages of `cgpo report`, `replay` and `train --live` in a real browser, used as a reader uses them.

    page_test.py PROGRAM CHROMIUM [unittest arguments]
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request

from browser import Browser

PROGRAM = os.path.abspath(sys.argv[1])
CHROMIUM = sys.argv[2]
SMALL = ['horizon=20', 'window=5', 'policy.hidden=[8]', 'critic.hidden=[8]', 'critic.steps=4', 'critic.batch=32',
         'kernel.block=8', 'environments=24']


def cgpo(*words, code=0):
    done = subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=False)
    assert done.returncode == code, f'{words}: exit code {done.returncode}\n{done.stdout}{done.stderr}'
    return done


def train(task, out, iterations, *more, sets=()):
    cgpo('train', task, '--out', out, '--threads', '1', *more, '--set', f'iterations={iterations}', *SMALL, *sets)


def read_log(run):
    with open(f'{run}/log.jsonl', encoding='utf-8') as file:
        return [json.loads(line) for line in file]


def write_log(run, entries, tail=''):
    with open(f'{run}/log.jsonl', 'w', encoding='utf-8') as file:
        file.writelines(json.dumps(entry) + '\n' for entry in entries)
        file.write(tail)


class PageTest(unittest.TestCase):
    """A folder and a browser for all tests of a class."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix='cgpo-page-')
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        os.chdir(cls.folder)
        cls.browser = Browser(CHROMIUM)
        cls.addClassCleanup(cls.browser.close)
        cls.addClassCleanup(os.chdir, '/')
        cls.prepare()

    @classmethod
    def prepare(cls):
        pass

    def tearDown(self):
        self.assertEqual(self.browser.console, [], 'the console has errors')

    def open(self, page, options='still'):
        path = urllib.request.pathname2url(os.path.abspath(page))
        self.browser.open(f'file://{path}#{options}')
        self.browser.wait_for('window.cgpo && window.cgpo.ready')

    def js(self, script):
        return self.browser.run(script)

    def points(self, chart, group=0, series=None):
        """x and y of a line as Chart.js has it."""
        wanted = f"set.group === {group} && set.series === {json.dumps(series or chart)}"
        return self.js(f"""cgpo.board.charts.get({json.dumps(chart)}).chart.data.datasets.find(set => {wanted})
            .data.map(point => [point.x, Number.isFinite(point.y) ? point.y : null])""")

    def assert_points(self, found, wanted):
        self.assertEqual(len(found), len(wanted))
        for (x, y), (wanted_x, wanted_y) in zip(found, wanted):
            self.assertAlmostEqual(x, wanted_x, delta=1e-6 * max(1, abs(wanted_x)))
            if wanted_y is None:
                self.assertIsNone(y)
            else:
                self.assertAlmostEqual(y, wanted_y, delta=1e-6 * max(1e-3, abs(wanted_y)))

    def range(self):
        return self.js("(() => { const { x } = cgpo.board.charts.get('return').chart.scales; return [x.min, x.max]; })()")


class Report(PageTest):
    @classmethod
    def prepare(cls):
        train('function', 'run', 12, sets=['limits=[1.9]'])
        cgpo('report', 'run', '--episodes', '64', '--threads', '1')

    def setUp(self):
        self.open('run/report.html')

    def test_curves_carry_the_numbers_of_the_log(self):
        log = read_log('run')
        steps = [entry['steps'] for entry in log]
        self.assert_points(self.points('return'), list(zip(steps, (entry['return'] for entry in log))))
        self.assert_points(self.points('cost/height'), list(zip(steps, (entry['costs'][0] for entry in log))))
        self.assert_points(self.points('radius'), list(zip(steps, (entry['radius'] for entry in log))))
        for k, signal in enumerate(['return', 'height']):
            self.assert_points(self.points('gradient', series=f'gradient/{signal}'),
                               list(zip(steps, (entry['gradient_norms'][k] for entry in log))))
            self.assert_points(self.points('critic', series=f'critic/{signal}'),
                               list(zip(steps, (entry['critic_losses'][k] for entry in log))))
        self.assert_points(self.points('length'), list(zip(steps, (entry['episode_length'] for entry in log))))
        limit = self.js("cgpo.board.charts.get('cost/height').chart.data.datasets.find(set => set.limit)")
        self.assertEqual((limit['data'][0]['y'], limit['label']), (1.9, 'limit 1.9'))

    def test_horizontal_axis_changes_with_mouse_and_keyboard(self):
        log = read_log('run')
        self.browser.click('[data-axis=seconds]')
        self.assert_points(self.points('return'), [(entry['seconds'], entry['return']) for entry in log])
        self.browser.press('ArrowRight', 39)
        self.assertEqual(self.js('cgpo.board.axis'), 'iteration')
        self.assert_points(self.points('return'), [(i + 1, entry['return']) for i, entry in enumerate(log)])

    def test_zoom_by_drag_wheel_keys_and_buttons(self):
        whole = self.range()
        self.browser.drag('[data-chart="return"]', (-0.2, 0), (0.2, 0.1))
        first, last = self.range()
        self.assertGreater(first, whole[0])
        self.assertLess(last, whole[1])
        other = self.js("cgpo.board.charts.get('cost/height').chart.scales.x.min")
        self.assertEqual(other, first, 'all charts show the same range')
        self.browser.click('[data-chart="return"]', count=2)
        self.assertEqual(self.range(), whole)
        self.js("document.querySelector('[data-chart=\"return\"]').focus({ preventScroll: true })")
        self.browser.wheel('[data-chart="return"]', -120)
        self.browser.wait_for(f"cgpo.board.charts.get('return').chart.scales.x.max < {whole[1]}")
        width = self.range()[1] - self.range()[0]
        self.browser.press('+', 187, '+')
        self.assertLess(self.range()[1] - self.range()[0], width)
        before = self.range()
        self.browser.press('ArrowRight', 39)
        self.assertNotEqual(self.range(), before)
        self.browser.press('0', 48, '0')
        self.assertEqual(self.range(), whole)
        self.browser.click('#zoom-in')
        self.assertLess(self.range()[1] - self.range()[0], whole[1] - whole[0])
        self.browser.click('#zoom-reset')
        self.assertEqual(self.range(), whole)

    def test_hover_tells_the_value(self):
        x, y, _, _ = self.browser.middle_of('[data-chart="return"]')
        tooltip = "cgpo.board.charts.get('return').chart.tooltip"
        for place in (-20, 0):
            self.browser.mouse('mouseMoved', x + place, y)
        self.browser.wait_for(f'{tooltip}.opacity > 0')
        said = self.js(f'{tooltip}.body[0].lines[0]').replace('−', '-').split(' ')[0]
        self.assertIn(float(said), [float(f"{entry['return']:.7g}") for entry in read_log('run')])

    def test_verdict_is_that_of_eval(self):
        told = json.loads(cgpo('eval', 'run', '--episodes', '64', '--json', '--threads', '1').stdout)
        shown = self.js('cgpo.data.runs[0].evaluation')
        for name in ('episodes', 'feasible', 'episode_length'):
            self.assertEqual(shown[name], told[name])
        self.assertEqual(shown['costs'][0]['mean'], told['costs'][0]['mean'])
        self.assertEqual(shown['costs'][0]['se'], told['costs'][0]['se'])
        text = self.js("document.querySelector('#verdict').innerText").lower()
        self.assertIn('feasible', text)
        self.assertIn('95 % interval', text)
        self.assertIn('limit 1.9', text)

    def test_both_policies_are_judged(self):
        told = json.loads(cgpo('eval', 'run', '--episodes', '64', '--deterministic', '--json', '--threads', '1').stdout)
        shown = self.js('cgpo.data.runs[0].evaluation.deployed')
        for name in ('episodes', 'feasible', 'verdict'):
            self.assertEqual(shown[name], told[name])
        self.assertEqual(shown['costs'][0]['mean'], told['costs'][0]['mean'])
        parts = self.js("[...document.querySelectorAll('#verdict .part')].map(node => node.innerText)")
        self.assertEqual(parts[:2], ['With noise, as it trains', 'Deployed: the mean action, without noise'])
        costs = self.js("[...document.querySelectorAll('#verdict dt')].map(node => node.innerText).filter(text => text.startsWith('Cost'))")
        self.assertEqual(len(costs), 2)

    def test_reads_without_seeing(self):
        labels = self.js("[...document.querySelectorAll('#charts canvas')].map(node => node.getAttribute('aria-label'))")
        self.assertGreaterEqual(len(labels), 6)
        for label in labels:
            self.assertRegex(label, r'over environment steps\. .*(from|lowest)')
        self.browser.click('#last-values summary')
        self.assertIn('Return', self.js("document.querySelector('#last-values').innerText"))

    def test_configuration_can_be_searched(self):
        rows = "[...document.querySelectorAll('#configuration-table tbody tr')].filter(row => !row.hidden).length"
        everything = self.js(rows)
        self.assertGreater(everything, 60)
        self.browser.click('#configuration-filter')
        self.browser.call('Input.insertText', text='radius.')
        self.browser.wait_for(f'{rows} < {everything}')
        self.assertGreater(self.js(rows), 5)

    def test_light_and_dark(self):
        theme = 'document.documentElement.dataset.theme'
        self.browser.prefer('dark')
        self.open('run/report.html')
        self.assertEqual(self.js(theme), 'dark')
        dark = self.js('getComputedStyle(document.body).backgroundColor')
        self.browser.click('#theme')
        self.assertEqual(self.js(theme), 'light')
        self.assertNotEqual(self.js('getComputedStyle(document.body).backgroundColor'), dark)
        self.browser.prefer('light')

    def test_fits_a_phone(self):
        # In a browser of its own: what was a phone once keeps its scale.
        with Browser(CHROMIUM) as phone:
            phone.resize(390, 844, mobile=True)
            phone.open(f'file://{os.path.abspath("run/report.html")}#still')
            phone.wait_for('window.cgpo && window.cgpo.ready')
            self.assertLessEqual(phone.run('document.documentElement.scrollWidth'), 390)
            self.assertEqual(phone.console, [])

    def test_needs_no_network(self):
        outside = [url for url in self.browser.requests if not url.startswith(('file:', 'data:', 'blob:'))]
        self.assertEqual(outside, [])
        with open('run/report.html', encoding='utf-8') as file:
            page = file.read()
        self.assertNotRegex(page, r'<(script|link|img)[^>]+(src|href)="https?:')
        self.assertIn('cgpo report run --episodes 64', page)

    def test_a_point_on_its_curve_is_the_replay(self):
        self.assertEqual(self.js('cgpo.replay.replay.kind'), 'curve')
        place = 'cgpo.replay.stage.chart.data.datasets[0].data[0].x'
        self.js('cgpo.replay.show(0)')
        before = self.js(place)
        self.js('cgpo.replay.show(15)')
        self.assertNotEqual(self.js(place), before)


class HardCases(PageTest):
    @classmethod
    def prepare(cls):
        train('function', 'run', 3)

    def copy(self, name):
        shutil.copytree('run', name)
        return name

    def test_numbers_that_are_none(self):
        name = self.copy('nan')
        log = read_log(name)
        log[1].update({'return': None, 'costs': [None], 'radius': None, 'gradient_norms': [None, 3.0]})
        write_log(name, log)
        cgpo('report', name, '--episodes', '8')
        self.open('nan/report.html')
        self.assertEqual([y for _, y in self.points('return')][1], None)
        self.assertIn('not a number', self.js("document.querySelector('#notes').innerText"))

    def test_a_cost_that_is_known_in_several_ways(self):
        name = self.copy('ways')
        log = read_log(name)
        for k, entry in enumerate(log):
            cost = entry['costs'][0]
            entry.update({'costs_filtered': [cost + 1], 'costs_filtered_se': [0.5], 'costs_deployed': [cost + 2], 'costs_deployed_se': [0.25],
                          'return_deployed': entry['return'] + 3, 'noise': 0.1 / (k + 1), 'episodes': 8 * (k + 1)})
        write_log(name, log)
        cgpo('report', name, '--episodes', '8')
        self.open('ways/report.html')
        steps = [entry['steps'] for entry in log]
        for series, more in (('cost/height', 0), ('cost-filtered/height', 1), ('cost-deployed/height', 2)):
            self.assert_points(self.points('cost/height', series=series), [(x, entry['costs'][0] + more) for x, entry in zip(steps, log)])
        self.assert_points(self.points('return', series='return-deployed'), [(x, entry['return'] + 3) for x, entry in zip(steps, log)])
        self.assert_points(self.points('noise'), [(x, entry['noise']) for x, entry in zip(steps, log)])
        self.assert_points(self.points('episodes'), [(x, entry['episodes']) for x, entry in zip(steps, log)])
        caption = "cgpo.board.charts.get('cost/height').figure.querySelector('.last').textContent"
        for words in ('with noise', 'filtered', 'deployed'):
            self.assertIn(words, self.js(caption))
        # What does not change needs no chart, and a log that knows one way only has one line without a name.
        for entry in log:
            entry.update({'noise': 0.1, 'episodes': 8})
            for field in ('costs_filtered', 'costs_filtered_se', 'costs_deployed', 'costs_deployed_se', 'return_deployed'):
                del entry[field]
        write_log(name, log)
        cgpo('report', name, '--episodes', '8')
        self.open('ways/report.html')
        charts = self.js('[...cgpo.board.charts.keys()]')
        self.assertIn('cost/height', charts)
        self.assertNotIn('noise', charts)
        self.assertNotIn('episodes', charts)
        self.assertNotIn('with noise', self.js(caption))

    def test_a_cost_below_its_limit_that_nothing_speaks_for(self):
        name = self.copy('diverged')
        log = read_log(name)
        words = "document.querySelector('#curves').innerText"
        cgpo('report', name, '--episodes', '8')
        self.open('diverged/report.html')
        self.assertIn('within the limit', self.js(words))
        log[2]['diverged'] = 5
        write_log(name, log)
        cgpo('report', name, '--episodes', '8')
        self.open('diverged/report.html')
        self.assertIn('cannot be judged: 5 of', self.js(words))
        self.assertNotIn('within the limit', self.js(words))
        self.assertIn('In 1 iteration too many episodes diverged', self.js("document.querySelector('#notes').innerText"))

    def test_policies_that_diverge(self):
        train('halfcheetah', 'gone', 1, sets=['task.dt=1', 'environments=8'])
        cgpo('report', 'gone', '--episodes', '8', '--threads', '1')
        self.open('gone/report.html')
        ruling = "document.querySelector('#verdict .ruling')"
        self.assertIn('Not feasible: 8 of 8 episodes diverged', self.js(f'{ruling}.textContent'))
        self.assertIn('bad', self.js(f'{ruling}.className'))

    def test_a_single_iteration(self):
        name = self.copy('single')
        write_log(name, read_log(name)[:1])
        cgpo('report', name, '--episodes', '8')
        self.open('single/report.html')
        self.assertEqual(len(self.points('return')), 1)
        self.assertGreater(self.js("cgpo.board.charts.get('return').chart.data.datasets.find(set => set.series === 'return').pointRadius"), 0)
        self.assertIn('1 of 3 iterations', self.js("document.querySelector('#notes').innerText"))

    def test_a_run_in_stages(self):
        train('swimmer', 'staged', 5, sets=['twin.first=0.6'])
        cgpo('report', 'staged', '--episodes', '8', '--threads', '1')
        self.open('staged/report.html')
        steps = [entry['steps'] for entry in read_log('staged') if entry['stage'] == 'own']
        self.assertEqual(len(steps), 3)
        self.assertEqual(self.js("cgpo.board.charts.get('return').chart.options.stages"), [steps[-1]])
        words = self.js("document.querySelector('[data-chart=\"return\"]').getAttribute('aria-label')")
        self.assertIn('on our engine up to', words)
        self.browser.click('[data-axis=iteration]')
        self.assertEqual(self.js("cgpo.board.charts.get('return').chart.options.stages"), [3])

    def test_no_iteration(self):
        name = self.copy('none')
        write_log(name, [])
        cgpo('report', name, '--episodes', '8')
        self.open('none/report.html')
        self.assertIn('no iteration', self.js("document.querySelector('#notes').innerText"))

    def test_a_log_cut_in_a_line(self):
        name = self.copy('torn')
        log = read_log(name)
        write_log(name, log[:2], tail=json.dumps(log[2])[:40])
        cgpo('report', name, '--episodes', '8')
        self.open('torn/report.html')
        self.assertEqual(len(self.points('return')), 2)
        self.assertIn('1 line of the log cannot be read', self.js("document.querySelector('#notes').innerText"))

    def test_no_checkpoint_at_all(self):
        name = self.copy('bare')
        for file in ('checkpoint.safetensors', 'best.safetensors'):
            if os.path.exists(f'{name}/{file}'):
                os.remove(f'{name}/{file}')
        shutil.rmtree(f'{name}/snapshots')
        cgpo('report', name)
        self.open('bare/report.html')
        self.assertEqual(len(self.points('return')), 3)
        self.assertIn('Not evaluated', self.js("document.querySelector('#verdict').innerText"))
        self.assertIn('no replay', self.js("document.querySelector('#replay').innerText"))

    def test_ten_thousand_iterations_keep_their_extremes(self):
        name = self.copy('long')
        entry = read_log(name)[0]
        count, high, low = 10_000, 4321, 7654
        log = []
        for i in range(count):
            line = dict(entry, iteration=i, steps=480 * (i + 1), seconds=round(0.01 * i, 3))
            line['return'] = {high: 99.5, low: -77.25}.get(i, (i % 10) / 10)
            log.append(line)
        log[5000]['return'] = None
        write_log(name, log)
        cgpo('report', name, '--episodes', '8')
        self.assertLess(os.path.getsize('long/report.html'), 12 << 20)
        begin = time.monotonic()
        self.open('long/report.html')
        self.assertLess(time.monotonic() - begin, 30)
        found = self.points('return')
        self.assertLess(len(found), 1500)
        numbers = [(x, y) for x, y in found if y is not None]
        self.assertEqual(max(numbers, key=lambda point: point[1]), (480 * (high + 1), 99.5))
        self.assertEqual(min(numbers, key=lambda point: point[1]), (480 * (low + 1), -77.25))
        # Closer, every single one is there again.
        self.js(f'cgpo.board.zoom.show({480 * (high - 20)}, {480 * (high + 20)})')
        near = dict((x, y) for x, y in self.points('return'))
        for i in range(high - 15, high + 15):
            self.assertEqual(near[480 * (i + 1)], log[i]['return'])

    def test_odd_names(self):
        name = 'a </script><b>"bold" & \'ü☃'.replace('/', '_') + '<!--'
        shutil.copytree('run', name)
        os.rename(name, '</script>'.replace('/', '⁄') + name)
        name = '</script>'.replace('/', '⁄') + name
        cgpo('report', name, '--episodes', '8', '--out', 'odd.html')
        self.open('odd.html')
        self.assertEqual(self.js('cgpo.data.runs[0].folder'), name)
        self.assertIn(name, self.js("document.querySelector('#verdict').textContent"))
        self.assertEqual(self.js("document.querySelectorAll('main b').length"), 0)

    def test_seeds_become_a_mean_with_its_interval(self):
        for seed in (1, 2):
            train('function', f'seed{seed}', 3, '--seed', str(seed))
        train('function', 'other', 3, sets=['radius.margin=0.1'])
        cgpo('report', 'run', 'seed1', 'seed2', 'other', '--episodes', '8', '--out', 'many.html')
        self.open('many.html')
        self.assertEqual(self.js('cgpo.data.groups.map(group => group.runs.length)'), [3, 1])
        self.assertIn('radius.margin', self.js('cgpo.data.groups[1].label'))
        logs = [read_log(name) for name in ('run', 'seed1', 'seed2')]
        means, halves = [], []
        for i in range(3):
            values = [log[i]['return'] for log in logs]
            mean = sum(values) / 3
            deviation = (sum((value - mean) ** 2 for value in values) / 2) ** 0.5
            means.append((logs[0][i]['steps'], mean))
            halves.append(4.30265 * deviation / 3 ** 0.5)
        self.assert_points(self.points('return'), means)
        bands = self.js("""cgpo.board.charts.get('return').chart.data.datasets.filter(set => set.band)
            .slice(0, 2).map(set => set.data.map(point => point.y))""")
        for i in range(3):
            self.assertAlmostEqual(bands[1][i] - bands[0][i], 2 * halves[i], delta=1e-4 * abs(halves[i]) + 1e-6)
        self.assertIn('3 seeds', self.js("document.querySelector('#legend').innerText"))

    def test_what_is_no_run_is_refused(self):
        os.makedirs('empty', exist_ok=True)
        for words in (['empty'], ['nowhere'], ['run', 'run'], []):
            self.assertRegex(cgpo('report', *words, code=2).stderr, r'^cgpo: [^\n]+\n$')
        self.assertFalse(os.listdir('empty'))


class Replay(PageTest):
    @classmethod
    def prepare(cls):
        train('halfcheetah', 'run', 4, sets=['horizon=40', 'environments=8'])
        cgpo('replay', 'run', '--threads', '1', '--episodes', '2')

    def setUp(self):
        self.open('run/replay.html')

    def pose(self):
        """Positions and turns of all bodies of the last view."""
        return self.js("""cgpo.replay.stage.views.at(-1).model.bodies.map(body =>
            [...body.position.toArray(), ...body.quaternion.toArray()])""")

    def time(self):
        return self.js('cgpo.replay.player.time')

    def test_policies_from_start_to_end(self):
        iterations = self.js('cgpo.replay.replay.policies.map(policy => policy.iteration)')
        self.assertEqual(iterations[0], 0)
        self.assertEqual(iterations[-1], 4)
        self.assertGreaterEqual(len(iterations), 5)
        self.assertEqual(self.js('cgpo.replay.stage.views.length'), 3)
        self.browser.click('#policies button:nth-child(2)')
        self.assertEqual(self.js('cgpo.replay.stage.views.length'), 4)
        self.browser.click('#policies button:nth-child(1)')
        self.assertEqual(self.js('cgpo.replay.stage.views.length'), 3)

    def test_joints_move(self):
        self.js('cgpo.replay.show(0)')
        before = self.pose()
        self.js('cgpo.replay.show(25)')
        after = self.pose()
        self.assertEqual(len(before), 7)
        # Every leg turns against the torso, not just along with it.
        turned = sum(1 for a, b in zip(before[1:], after[1:])
                     if max(abs(a[k] - b[k]) for k in range(3, 7)) > 1e-3)
        self.assertEqual(turned, 6)
        for body in after:
            self.assertAlmostEqual(sum(value ** 2 for value in body[3:]), 1, delta=1e-5)

    def test_picture_is_drawn_and_changes(self):
        colours = """(() => { const canvas = document.createElement('canvas'); canvas.width = 120; canvas.height = 60;
            const pen = canvas.getContext('2d'); pen.drawImage(cgpo.replay.stage.renderer.domElement, 0, 0, 120, 60);
            return [...new Uint32Array(pen.getImageData(0, 0, 120, 60).data.buffer)]; })()"""
        self.js('cgpo.replay.show(0)')
        first = self.js(colours)
        self.js('cgpo.replay.show(30)')
        second = self.js(colours)
        self.assertGreater(len(set(first)), 50)
        self.assertGreater(sum(a != b for a, b in zip(first, second)), 100)

    def test_play_and_pause_with_the_mouse(self):
        self.browser.click('#play')
        self.browser.wait_for('cgpo.replay.player.time > 1')
        self.assertEqual(self.js("document.querySelector('#play').getAttribute('aria-label')"), 'Pause')
        self.browser.click('#play')
        stopped = self.time()
        time.sleep(0.3)
        self.assertEqual(self.time(), stopped)

    def test_scrub(self):
        self.browser.click('#scrub')
        self.assertAlmostEqual(self.time(), 20, delta=2)
        self.browser.press('ArrowRight', 39)
        self.assertAlmostEqual(self.time(), 21, delta=2)

    def test_keyboard(self):
        self.browser.click('#stage')
        self.browser.press('Home', 36)
        self.assertEqual(self.time(), 0)
        self.browser.press('ArrowRight', 39)
        self.browser.press('ArrowRight', 39)
        self.browser.press('ArrowLeft', 37)
        self.assertEqual(self.time(), 1)
        self.browser.press('End', 35)
        self.assertEqual(self.time(), 40)
        self.browser.press('+', 187, '+')
        self.assertEqual(self.js('cgpo.replay.player.speed'), 2)
        self.browser.press('-', 189, '-')
        self.browser.press('-', 189, '-')
        self.assertEqual(self.js('cgpo.replay.player.speed'), 0.5)
        self.browser.press('f', 70, 'f')
        self.assertFalse(self.js('cgpo.replay.stage.follow'))
        self.browser.press(' ', 32, ' ')
        self.browser.wait_for('cgpo.replay.player.playing')
        self.browser.press(' ', 32, ' ')
        self.assertFalse(self.js('cgpo.replay.player.playing'))

    def test_camera_orbits_zooms_and_comes_back(self):
        camera = 'cgpo.replay.stage.camera.position.toArray()'
        home = self.js(camera)
        self.browser.drag('#stage', (-0.2, 0), (0.1, 0.1))
        turned = self.js(camera)
        self.assertGreater(max(abs(a - b) for a, b in zip(home, turned)), 0.05)
        distance = 'cgpo.replay.stage.camera.position.distanceTo(cgpo.replay.stage.controls.target)'
        before = self.js(distance)
        self.browser.wheel('#stage', -240)
        self.browser.wait_for(f'{distance} < {before}')
        self.browser.click('#reset-view')
        for a, b in zip(self.js(camera), home):
            self.assertAlmostEqual(a, b, delta=1e-6)

    def test_camera_follows(self):
        shift = 'cgpo.replay.stage.shiftOf(cgpo.replay.stage.views.at(-1)).x'
        self.js('cgpo.replay.show(40)')
        moved = self.pose()[0][0]
        start = self.js('cgpo.replay.stage.start.x')
        self.assertAlmostEqual(self.js(shift), moved - start, delta=1e-5)
        self.browser.click('#follow')
        self.assertEqual(self.js(shift), 0)

    def test_contact_forces_are_arrows(self):
        self.js('cgpo.replay.show(0)')
        shown = "cgpo.replay.stage.views.some(view => view.model.arrows.some(arrow => arrow.group.visible))"
        frames = [i for i in range(41) if self.js(f'(cgpo.replay.show({i}), {shown})')]
        self.assertGreater(len(frames), 3, 'a robot that falls to the floor is held up by it')
        self.browser.click('#forces')
        self.assertFalse(self.js(f'(cgpo.replay.show({frames[0]}), {shown})'))

    def test_running_cost_beside_its_limit(self):
        self.js('cgpo.replay.show(40)')
        told = json.loads(cgpo('replay', 'run', '--threads', '1', '--json', '--out', 'again.html').stdout)
        last = told['policies'][-1]['episodes'][0]
        sums = self.js('cgpo.replay.replay.policies.at(-1).episodes[0].sums.map(list => list.at(-1))')
        self.assertEqual(sums, [last['return'], *last['costs']])
        words = self.js("document.querySelector('#meters').innerText")
        self.assertIn('for the whole episode', words)

    def test_second_episode_starts_elsewhere(self):
        self.js('cgpo.replay.show(0)')
        first = self.pose()
        self.js("(() => { const box = document.querySelector('#episode'); box.value = '1'; box.dispatchEvent(new Event('change')); })()")
        self.js('cgpo.replay.show(0)')
        self.assertNotEqual(self.pose(), first)

    def test_without_snapshots_there_are_last_and_best(self):
        shutil.copytree('run', 'plain')
        shutil.rmtree('plain/snapshots')
        told = json.loads(cgpo('replay', 'plain', '--threads', '1', '--json').stdout)
        self.assertIn(4, [policy['iteration'] for policy in told['policies']])
        self.open('plain/replay.html')

    def test_without_webgl_it_says_so(self):
        with Browser(CHROMIUM, flags=['--disable-3d-apis']) as browser:
            path = urllib.request.pathname2url(os.path.abspath('run/replay.html'))
            browser.open(f'file://{path}#still')
            browser.wait_for('window.cgpo && window.cgpo.ready')
            self.assertIn('no WebGL', browser.run("document.querySelector('#stage').innerText"))
            browser.run('cgpo.replay.show(10)')
            self.assertEqual(browser.console, [])


class Film(unittest.TestCase):
    def test_frames_and_still(self):
        with tempfile.TemporaryDirectory(prefix='cgpo-film-') as folder:
            os.chdir(folder)
            train('cartpole', 'run', 1, sets=['horizon=30', 'environments=8'])
            size = ['--size', '160x120', '--threads', '1']
            told = json.loads(cgpo('replay', 'run', '--frames', 'film', '--seconds', '0.15', '--show', 'last', *size, '--json').stdout)
            self.assertEqual(told['frames'], 3)
            frames = [pathlib.Path('film', name).read_bytes() for name in sorted(os.listdir('film'))]
            self.assertEqual(len(frames), 3)
            for frame in frames:
                self.assertEqual(frame[:8], b'\x89PNG\r\n\x1a\n')
                self.assertEqual((int.from_bytes(frame[16:20], 'big'), int.from_bytes(frame[20:24], 'big')), (160, 120))
            self.assertNotEqual(frames[0], frames[2])
            cgpo('replay', 'run', '--video', 'still.png', *size)
            self.assertTrue(os.path.exists('still.png'))
            self.assertFalse(os.path.exists('run/replay.html'))
            for words in (['--video', 'film.avi'], ['--frames', 'film'], ['--size', '12'], ['--show', 'first'], ['--fps', '0']):
                self.assertRegex(cgpo('replay', 'run', *words, code=2).stderr, r'^cgpo: [^\n]+\n$')
            os.chdir('/')


class Live(PageTest):
    """A long training, looked at while it goes on."""

    def setUp(self):
        self.browser.open('about:blank')

    def start(self, out, iterations, *more, environments=24):
        words = [PROGRAM, 'train', 'function', '--out', out, '--live', '--threads', '1', *more,
                 '--set', f'iterations={iterations}', *SMALL, f'environments={environments}']
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        for line in process.stdout:
            found = re.match(r'live: (http://127\.0\.0\.1:(\d+)/)', line)
            if found:
                return process, found.group(1), found.group(2)
        raise AssertionError('no address was printed')

    def ask(self, url, method='GET', host=None):
        request = urllib.request.Request(url, method=method, headers={'Host': host} if host else {})
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, b''

    def test_page_grows_with_the_run(self):
        process, address, port = self.start('run', 100_000, '--port', '0')
        self.browser.open(f'{address}#still')
        self.browser.wait_for('window.cgpo && cgpo.replay')
        known = self.js('cgpo.data.groups[0].curves.steps.length')
        self.browser.wait_for(f'cgpo.data.groups[0].curves.steps.length > {known + 3}')
        found = self.points('return') if self.js('cgpo.data.groups[0].curves.steps.length') < 700 else None
        log = read_log('run')
        if found:
            self.assert_points(found, [(entry['steps'], entry['return']) for entry in log[:len(found)]])
        self.assertIn('live: iteration', self.js("document.querySelector('#live-state').textContent"))

        # Only new lines, only these addresses, only reading, only for this machine.
        whole = json.loads(self.ask(f'{address}log?from=0')[1])
        tail = json.loads(self.ask(f'{address}log?from={whole["iterations"] - 2}')[1])
        self.assertEqual(tail['curves']['steps'][:2], whole['curves']['steps'][-2:])
        self.assertEqual(self.ask(address)[0], 200)
        self.assertEqual(self.ask(f'{address}replay')[0], 200)
        self.assertEqual(self.ask(f'{address}log?from=-1;DROP')[0], 200)
        for path in ('config.toml', 'log.jsonl', '../run/config.toml', 'log/', 'x'):
            self.assertEqual(self.ask(address + path)[0], 404)
        self.assertEqual(self.ask(address, 'HEAD'), (200, b''))
        for method in ('POST', 'PUT', 'DELETE', 'OPTIONS'):
            self.assertEqual(self.ask(address, method)[0], 405)
        self.assertEqual(self.ask(address, host='evil.example')[0], 403)
        self.assertRaises(OSError, self.ask, f'http://127.0.0.2:{port}/')

        # No command line, no paths.
        page = self.ask(address)[1].decode()
        self.assertNotIn('--threads', page)
        self.assertNotIn(self.folder, page)

        # A second run on this port is refused before it writes anything.
        refused = cgpo('train', 'function', '--out', 'second', '--live', '--port', port, code=2)
        self.assertRegex(refused.stderr, rf'^cgpo: --live: port {port} is in use[^\n]+\n$')
        self.assertFalse(os.path.exists('second'))

        # A browser that goes away disturbs nothing.
        self.browser.open('about:blank')
        lines = len(read_log('run')[:-1])
        deadline = time.monotonic() + 60
        while len(read_log('run')[:-1]) <= lines and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertIsNone(process.poll())
        process.terminate()
        self.assertEqual(process.wait(60), 128 + 15)
        cgpo('eval', 'run', '--episodes', '8')

    def test_page_sees_the_end(self):
        # Some seconds, so that a slow browser is there before the end.
        process, address, _ = self.start('short', 60, '--port', '0', environments=1000)
        self.browser.open(f'{address}#still')
        self.browser.wait_for('window.cgpo && cgpo.live && cgpo.live.finished')
        self.assertEqual(self.js('cgpo.data.groups[0].curves.steps.length'), 60)
        self.assertIn('done: 60 of 60', self.js("document.querySelector('#live-state').textContent"))
        self.assertEqual(process.wait(60), 0)

    def test_result_does_not_depend_on_it(self):
        process, address, _ = self.start('seen', 20, '--port', '0')
        self.ask(address)
        process.stdout.read()
        self.assertEqual(process.wait(60), 0)
        train('function', 'unseen', 20)
        strip = [[{k: v for k, v in line.items() if k != 'seconds'} for line in read_log(name)] for name in ('seen', 'unseen')]
        self.assertEqual(strip[0], strip[1])
        with open('seen/checkpoint.safetensors', 'rb') as a, open('unseen/checkpoint.safetensors', 'rb') as b:
            self.assertEqual(a.read(), b.read())


if __name__ == '__main__':
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
