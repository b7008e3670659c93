"""A headless Chromium, driven through its DevTools pipe with nothing but the standard library."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

FLAGS = ['--headless', '--remote-debugging-pipe', '--use-angle=swiftshader', '--enable-unsafe-swiftshader',
         '--no-first-run', '--disable-extensions', '--disable-background-networking', '--disable-dev-shm-usage',
         '--hide-scrollbars', '--mute-audio', '--force-device-scale-factor=1',
         '--allow-pre-commit-input']  # else a click that comes before a busy machine has drawn the page is lost


class Browser:
    """One page in one browser. Everything waits until it is so, or fails after `patience` seconds."""

    def __init__(self, program='chromium', size=(1280, 900), patience=60, flags=()):
        self.patience = patience
        self.profile = tempfile.mkdtemp(prefix='cgpo-browser-')
        to_browser, self.write_end = os.pipe()
        self.read_end, from_browser = os.pipe()
        words = [program, *FLAGS, *flags, f'--user-data-dir={self.profile}', f'--window-size={size[0]},{size[1]}']
        if os.geteuid() == 0:
            words.append('--no-sandbox')

        def hand_over():  # the pipe's ends are files 3 and 4 there
            os.dup2(to_browser, 100)
            os.dup2(from_browser, 101)
            os.dup2(100, 3)
            os.dup2(101, 4)

        self.process = subprocess.Popen(words, preexec_fn=hand_over, close_fds=False,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.buffer = b''
        self.count = 0
        self.console = []  # errors and warnings of the page
        self.requests = []  # addresses that it asked for
        self.session = None
        target = self.call('Target.createTarget', url='about:blank')['targetId']
        self.session = self.call('Target.attachToTarget', targetId=target, flatten=True)['sessionId']
        for domain in ('Page', 'Runtime', 'Log', 'Network'):
            self.call(f'{domain}.enable')
        self.resize(*size)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        try:
            self.process.terminate()
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        for end in (self.write_end, self.read_end):
            os.close(end)
        shutil.rmtree(self.profile, ignore_errors=True)

    def receive(self, deadline):
        while b'\0' not in self.buffer:
            left = deadline - time.monotonic()
            ready = left > 0 and select.select([self.read_end], [], [], left)[0]
            if not ready:
                raise TimeoutError('the browser does not answer')
            piece = os.read(self.read_end, 1 << 20)
            if not piece:
                raise RuntimeError('the browser has gone')
            self.buffer += piece
        message, self.buffer = self.buffer.split(b'\0', 1)
        return json.loads(message)

    def note(self, message):
        method, values = message.get('method'), message.get('params', {})
        if method == 'Runtime.exceptionThrown':
            details = values['exceptionDetails']
            self.console.append(details.get('exception', {}).get('description', details['text']))
        elif method == 'Runtime.consoleAPICalled' and values['type'] in ('error', 'warning', 'assert'):
            self.console.append(' '.join(str(part.get('value', part.get('description'))) for part in values['args']))
        elif method == 'Log.entryAdded' and values['entry']['level'] == 'error':
            self.console.append(values['entry']['text'])
        elif method == 'Network.requestWillBeSent':
            self.requests.append(values['request']['url'])

    def call(self, method, **values):
        self.count += 1
        message = {'id': self.count, 'method': method, 'params': values}
        if self.session:
            message['sessionId'] = self.session
        os.write(self.write_end, json.dumps(message).encode() + b'\0')
        deadline = time.monotonic() + self.patience
        while True:
            answer = self.receive(deadline)
            if answer.get('id') != self.count:
                self.note(answer)
                continue
            if 'error' in answer:
                raise RuntimeError(f"{method}: {answer['error']['message']}")
            return answer['result']

    def resize(self, width, height, mobile=False):
        self.call('Emulation.setDeviceMetricsOverride', width=width, height=height, deviceScaleFactor=1, mobile=mobile)

    def prefer(self, scheme):
        self.call('Emulation.setEmulatedMedia', features=[{'name': 'prefers-color-scheme', 'value': scheme}])

    def open(self, address):
        """Always from scratch: going from a page to itself would only move within it."""
        self.call('Page.navigate', url='about:blank')
        self.wait_for("location.href === 'about:blank'")
        self.console.clear()
        self.requests.clear()
        self.call('Page.navigate', url=address)
        if address != 'about:blank':
            self.wait_for("document.readyState === 'complete' && location.href !== 'about:blank'")

    def run(self, script):
        """The value of an expression in the page."""
        answer = self.call('Runtime.evaluate', expression=script, returnByValue=True, awaitPromise=True)
        if 'exceptionDetails' in answer:
            details = answer['exceptionDetails']
            raise RuntimeError(details.get('exception', {}).get('description', details['text']))
        return answer['result'].get('value')

    def wait_for(self, script):
        deadline = time.monotonic() + self.patience
        while True:
            if self.run(f'Boolean({script})'):
                return
            if time.monotonic() > deadline:
                raise TimeoutError(f'this did not become true: {script}')
            time.sleep(0.05)

    def middle_of(self, selector):
        """x, y, width and height of an element in view, once it has come to rest."""
        return self.run(f"""(async () => {{
            const node = document.querySelector({json.dumps(selector)});
            const frame = () => new Promise(next => setTimeout(next, 40));
            let before = '', same = 0, box;
            while (same < 3) {{
              node.scrollIntoView({{ block: 'center', behavior: 'instant' }});
              await frame();
              box = node.getBoundingClientRect();
              const now = [box.left, box.top, box.width, box.height].join();
              same = now === before ? same + 1 : 0;
              before = now;
            }}
            return [box.left + box.width / 2, box.top + box.height / 2, box.width, box.height]; }})()""")

    def mouse(self, kind, x, y, **more):
        self.call('Input.dispatchMouseEvent', type=kind, x=x, y=y, **more)

    def click(self, selector, count=1):
        x, y, _, _ = self.middle_of(selector)
        self.mouse('mouseMoved', x, y)
        for i in range(1, count + 1):
            self.mouse('mousePressed', x, y, button='left', clickCount=i)
            self.mouse('mouseReleased', x, y, button='left', clickCount=i)

    def drag(self, selector, begin, end):
        """From one place to another, both as shares of the element's width and height from its middle."""
        x, y, w, h = self.middle_of(selector)
        path = [(x + w * (begin[0] + (end[0] - begin[0]) * i / 5), y + h * (begin[1] + (end[1] - begin[1]) * i / 5))
                for i in range(6)]
        self.mouse('mouseMoved', *path[0])
        self.mouse('mousePressed', *path[0], button='left', clickCount=1)
        for place in path[1:]:
            self.mouse('mouseMoved', *place, button='left', buttons=1)
        self.mouse('mouseReleased', *path[-1], button='left', clickCount=1)

    def wheel(self, selector, delta):
        x, y, _, _ = self.middle_of(selector)
        self.mouse('mouseWheel', x, y, deltaX=0, deltaY=delta)

    def press(self, key, code=0, text=None):
        down = {'type': 'keyDown', 'key': key, 'windowsVirtualKeyCode': code}
        if text:
            down['text'] = text
        self.call('Input.dispatchKeyEvent', **down)
        self.call('Input.dispatchKeyEvent', type='keyUp', key=key, windowsVirtualKeyCode=code)

    def screenshot(self, path, whole=False):
        picture = self.call('Page.captureScreenshot', format='png', captureBeyondViewport=whole)
        with open(path, 'wb') as file:
            file.write(base64.b64decode(picture['data']))
