// ---- numbers and words for people ----------------------------------------------------------------------------------

// A few significant digits, thousands without noise, a true minus: 3.84M, 12.5k, 0.00123, 1.6e−5.
function formatNumber(value, digits = 4) {
  if (value === null || value === undefined || !Number.isFinite(value)) return '–';
  const size = Math.abs(value);
  let text;
  if (size >= 1e9 || (size !== 0 && size < 1e-3)) text = value.toExponential(1).replace('.0e', 'e');
  else if (size >= 1e6) text = `${trimZeros((value / 1e6).toPrecision(Math.min(digits, 3)))}M`;
  else if (size >= 1e4) text = `${trimZeros((value / 1e3).toPrecision(Math.min(digits, 3)))}k`;
  else text = trimZeros(size >= 10 ** digits ? value.toFixed(0) : value.toPrecision(digits));
  return text.replaceAll('-', '−');
}

function trimZeros(text) {
  return text.includes('.') && !text.includes('e') ? text.replace(/\.?0+$/, '') : text;
}

// With all digits that a log line carries.
function formatExact(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return 'not a number';
  return String(Number(value.toPrecision(7))).replaceAll('-', '−');
}

function formatUncertain(mean, half) {
  const known = half !== null && half !== undefined && Number.isFinite(half);
  return known ? `${formatNumber(mean)} ± ${formatNumber(half, 2)}` : formatNumber(mean);
}

function formatShare(value) {
  return value === null || value === undefined ? '–' : `${formatNumber(100 * value, 3)} %`;
}

function formatDuration(seconds) {
  if (!Number.isFinite(seconds)) return '–';
  if (seconds < 60) return `${trimZeros(seconds.toPrecision(3))} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.round(seconds / 60) % 60} min`;
}

function capitalise(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

// An element with attributes and children; text never becomes markup.
function element(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === 'class') node.className = value;
    else if (value === true) node.setAttribute(key, '');
    else if (value !== false && value !== null) node.setAttribute(key, value);
  }
  node.append(...children.filter(child => child !== null));
  return node;
}

const byId = id => document.getElementById(id);

function cssColor(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

// Okabe and Ito's colours, which all kinds of colour vision tell apart, a shade lighter on dark paper.
const PALETTE = {
  light: ['#0072B2', '#D55E00', '#009E73', '#B0569A', '#B88700', '#2A9FD8', '#5b6570'],
  dark: ['#56B4E9', '#FF9A55', '#3CCB9C', '#E39BC9', '#F0C64A', '#8FD0FF', '#b0b8c0'],
};

function seriesColor(index) {
  const colors = PALETTE[document.documentElement.dataset.theme] || PALETTE.light;
  return colors[index % colors.length];
}

function withAlpha(color, alpha) {
  return color + Math.round(alpha * 255).toString(16).padStart(2, '0');
}
