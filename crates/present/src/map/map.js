"use strict";
(function () {
  var D = JSON.parse(document.getElementById("map-data").textContent);
  var RAD = Math.PI / 180, R = D.earth_km, time = D.at, playing = false, last = 0;
  var $ = function (id) { return document.getElementById(id); };
  var views = Array.prototype.slice.call(document.querySelectorAll(".view"));
  var shown = 0;

  // Positions: [x, y, z] in km, in the frame that turns with the earth.
  function vector(lon, lat, r) {
    var c = Math.cos(lat * RAD);
    return [r * c * Math.cos(lon * RAD), r * c * Math.sin(lon * RAD), r * Math.sin(lat * RAD)];
  }
  function below(p) {
    return [Math.atan2(p[1], p[0]) / RAD, Math.atan2(p[2], Math.hypot(p[0], p[1])) / RAD];
  }
  function wrapped(d) { return ((d + 180) % 360 + 360) % 360 - 180; }
  function satellite(sky, i, t) {
    if (sky.kind === "shell") {
      var plane = Math.floor(i / sky.per_plane);
      var u = (sky.arguments[i] + 360 * t / sky.period_s) * RAD, inc = sky.inclination * RAD;
      var node = (sky.spacing * plane - 360 * t / D.day_s) * RAD;
      var c = Math.cos(u), s = Math.sin(u), n = Math.cos(node), m = Math.sin(node);
      return [sky.radius_km * (c * n - s * Math.cos(inc) * m),
        sky.radius_km * (c * m + s * Math.cos(inc) * n), sky.radius_km * s * Math.sin(inc)];
    }
    if (sky.kind === "standing") return vector(sky.places[i][0], sky.places[i][1], sky.radius_km[i]);
    var n = sky.samples.steps, at = Math.min(t / sky.samples.step_s, n - 1), k = Math.min(Math.floor(at), n - 2);
    var f = at - k, a = sample(sky, i, k), b = sample(sky, i, k + 1);
    if (!a || !b) return null;
    var p = [0, 1, 2].map(function (j) { return a[j] + (b[j] - a[j]) * f; });
    var h = (length(a) + (length(b) - length(a)) * f) / length(p);
    return p.map(function (x) { return x * h; });
  }
  function length(p) { return Math.hypot(p[0], p[1], p[2]); }
  function sample(sky, i, k) {
    var at = 3 * (k * sky.count + i), u = sky.samples.unit_km, p = [0, 1, 2].map(function (j) { return sky.km[at + j] * u; });
    return length(p) > 0 ? p : null;
  }
  D.skies.forEach(function (sky) {
    if (sky.kind === "sampled") {
      var raw = atob(sky.samples.base64), bytes = new Uint8Array(raw.length);
      for (var i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
      var view = new DataView(bytes.buffer);
      sky.km = new Int16Array(raw.length / 2);
      for (i = 0; i < sky.km.length; i++) sky.km[i] = view.getInt16(2 * i, true);
    }
    sky.now = sky.isls.map(function (l) { return l.slice(); });
    sky.done = 0;
  });
  // Links as they are at t: forward through the changes, or from the start.
  function links(sky, t) {
    if (sky.done > 0 && sky.changes[sky.done - 1][0] > t * 1000) {
      sky.now = sky.isls.map(function (l) { return l.slice(); });
      sky.done = 0;
    }
    while (sky.done < sky.changes.length && sky.changes[sky.done][0] <= t * 1000) {
      var c = sky.changes[sky.done++];
      sky.now[c[1]] = c.slice(2);
    }
    return sky.now;
  }
  // Pieces of the line below the straight one from a to b.
  function track(a, b) {
    var p = below(a), q = below(b);
    var apart = Math.max(Math.abs(wrapped(q[0] - p[0])), Math.abs(q[1] - p[1]));
    var steps = Math.max(1, Math.min(45, Math.ceil(apart / 4))), line = [p], lines = [line];
    for (var i = 1; i <= steps; i++) {
      var f = i / steps, at = below([0, 1, 2].map(function (j) { return a[j] + (b[j] - a[j]) * f; }));
      var before = line[line.length - 1], next = before[0] + wrapped(at[0] - before[0]);
      if (Math.abs(next - before[0]) > 120) { line = [at]; lines.push(line); } else line.push([next, at[1]]);
    }
    return lines;
  }
  function cap(p, half) {
    var low = Math.max(p[1] - half, -90), high = Math.min(p[1] + half, 90), east = [], west = [];
    for (var i = 0; i <= 24; i++) {
      var at = low + (high - low) * (1 - Math.cos(Math.PI * i / 24)) / 2;
      var b = Math.cos(at * RAD) * Math.cos(p[1] * RAD);
      var a = Math.cos(half * RAD) - Math.sin(at * RAD) * Math.sin(p[1] * RAD);
      var w = a <= -b ? 180 : a >= b ? 0 : Math.acos(a / b) / RAD;
      east.push([p[0] + w, at]);
      west.unshift([p[0] - w, at]);
    }
    return east.concat(west);
  }
  function trace(g, v, line, closed) {
    var w = Infinity, e = -Infinity, right = v.left + v.width / v.scale;
    line.forEach(function (p) { w = Math.min(w, p[0]); e = Math.max(e, p[0]); });
    for (var turn = -2; turn <= 2; turn++) {
      if (e + 360 * turn < v.left || w + 360 * turn > right) continue;
      line.forEach(function (p, i) {
        var x = (p[0] + 360 * turn - v.left) * v.scale, y = (v.top - p[1]) * v.scale;
        if (i) g.lineTo(x, y); else g.moveTo(x, y);
      });
      if (closed) g.closePath();
    }
  }
  function spot(v, p) {
    var off = ((p[0] - v.left) % 360 + 360) % 360;
    return [off * v.scale, (v.top - p[1]) * v.scale];
  }
  function avoid(taken, v, line) {
    for (var i = 1; i < line.length; i++) {
      var a = line[i - 1], b = line[i];
      var n = Math.max(1, Math.min(200, Math.ceil(Math.max(Math.abs(b[0] - a[0]), Math.abs(b[1] - a[1])) * v.scale / 8)));
      for (var k = 0; k < n; k++) {
        var q = spot(v, [a[0] + (b[0] - a[0]) * k / n, a[1] + (b[1] - a[1]) * k / n]);
        taken.push([q[0] - 2, q[1] - 2, q[0] + 2, q[1] + 2]);
      }
    }
  }
  function find(list, t, get) {
    var low = 0, high = list.length;
    while (low < high) { var mid = (low + high) >> 1; if (get(list[mid]) <= t) low = mid + 1; else high = mid; }
    return low - 1;
  }
  function path(course, t) {
    var i = find(course.legs, t * 1000, function (l) { return l[0]; });
    return i < 0 || course.legs[i][1] < 0 ? null : D.paths[course.legs[i][1]];
  }
  function delay(course, t) {
    var k = course.times, i = find(k, t * 1000, function (x) { return x; });
    if (i < 0 || course.delays[i] < 0) return null;
    if (i + 1 >= k.length || course.delays[i + 1] < 0 || k[i + 1] === k[i]) return course.delays[i] / 1000;
    return (course.delays[i] + (course.delays[i + 1] - course.delays[i]) * (t * 1000 - k[i]) / (k[i + 1] - k[i])) / 1000;
  }
  function place(stop, t) {
    var s = D.stops[stop];
    if (s.satellite) return satellite(D.skies[s.satellite[0]], s.satellite[1], t);
    return s.place ? vector(s.place[0], s.place[1], R) : null;
  }
  function surface(canvas, width, height) {
    var ratio = window.devicePixelRatio || 1, w = Math.round(canvas.clientWidth * ratio), h = Math.round(canvas.clientHeight * ratio);
    if (canvas.width !== w || canvas.height !== h) { canvas.width = w; canvas.height = h; }
    var g = canvas.getContext("2d");
    g.setTransform(w / width, 0, 0, h / height, 0, 0);
    g.clearRect(0, 0, width, height);
    g.lineJoin = g.lineCap = "round";
    return g;
  }
  function draw() {
    var v = D.views[shown], g = surface(views[shown].querySelector("canvas"), v.width, v.height);
    var used = {}, taken = v.taken.slice(), paths = D.courses.map(function (c) { return path(c, time); });
    paths.forEach(function (p) {
      (p || []).forEach(function (s) { if (D.stops[s].satellite) used[D.stops[s].satellite.join()] = s; });
    });
    var coverage = $("coverage").value;
    D.skies.forEach(function (sky, n) {
      var at = [];
      for (var i = 0; i < sky.count; i++) at.push(satellite(sky, i, time));
      g.beginPath();
      at.forEach(function (p, i) {
        if (p && (coverage === "all" || (coverage === "used" && used[n + "," + i] !== undefined)))
          trace(g, v, cap(below(p), sky.half.length === 1 ? sky.half[0] : sky.half[i]), true);
      });
      g.fillStyle = "rgba(86,180,233,0.13)";
      g.strokeStyle = "rgba(0,114,178,0.45)";
      g.lineWidth = coverage === "all" ? 0.5 : 1;
      if (coverage !== "all") g.fill();
      g.stroke();
      if ($("links").checked) {
        g.beginPath();
        links(sky, time).forEach(function (l) {
          if (l[2] && at[l[0]] && at[l[1]])
            track(at[l[0]], at[l[1]]).forEach(function (line) { trace(g, v, line); });
        });
        g.strokeStyle = "rgba(140,150,160,0.55)";
        g.lineWidth = 0.7;
        g.stroke();
      }
      g.beginPath();
      var r = sky.count > 400 ? 1.6 : 2.6;
      at.forEach(function (p) {
        if (!p) return;
        var q = spot(v, below(p));
        if (q[0] <= v.width) { g.moveTo(q[0] + r, q[1]); g.arc(q[0], q[1], r, 0, 7); }
      });
      g.fillStyle = "#6e7781";
      g.fill();
    });
    paths.forEach(function (p, n) {
      if (!p) return;
      var at = p.map(function (s) { return place(s, time); }).filter(Boolean);
      g.beginPath();
      for (var i = 1; i < at.length; i++)
        track(at[i - 1], at[i]).forEach(function (line) { trace(g, v, line); avoid(taken, v, line); });
      if (n === 0) { g.lineWidth = 6; g.strokeStyle = "#fff"; g.stroke(); }
      g.lineWidth = Math.max(4 - 1.2 * n, 1.4);
      g.strokeStyle = D.courses[n].colour;
      g.stroke();
    });
    g.font = "11px 'DejaVu Sans', sans-serif";
    function free(b) {
      return b[0] > 2 && b[1] > 2 && b[2] < v.width - 2 && b[3] < v.height - 2 && taken.every(function (t) {
        return b[2] <= t[0] || t[2] <= b[0] || b[3] <= t[1] || t[3] <= b[1];
      });
    }
    Object.keys(used).forEach(function (key) {
      var s = D.stops[used[key]], p = place(used[key], time);
      if (!p) return;
      var q = spot(v, below(p)), x = q[0], y = q[1];
      if (x > v.width) return;
      g.beginPath();
      g.arc(x, y, 4.5, 0, 7);
      g.fillStyle = "#fff";
      g.strokeStyle = "#1f2328";
      g.lineWidth = 1.8;
      g.fill();
      g.stroke();
      var w = g.measureText(s.label).width, box = [[x + 8, y - 6], [x - 8 - w, y - 6], [x - w / 2, y - 20], [x - w / 2, y + 9]]
        .map(function (c) { return [c[0], c[1], c[0] + w, c[1] + 12]; }).filter(free)[0];
      if (!box) return;
      taken.push(box);
      g.lineWidth = 3.5;
      g.strokeStyle = "#fff";
      g.strokeText(s.label, box[0], box[3] - 2);
      g.fillStyle = "#57606a";
      g.fillText(s.label, box[0], box[3] - 2);
    });
    strip();
    $("time").value = time;
    $("clock").textContent = clock(time);
    $("time").setAttribute("aria-valuetext", clock(time));
    D.courses.forEach(function (c, n) {
      var p = paths[n], d = delay(c, time), done = find(c.handovers, time * 1000, function (x) { return x; }) + 1;
      $("now" + n).textContent = c.title + ": " + (p
        ? (d === null ? "" : d.toFixed(2) + " ms one way, ") + (p.length - 1) + " hops, " + done + (done === 1 ? " handover" : " handovers") + " so far, over "
          + p.map(function (s) { return D.stops[s].name; }).join(" – ")
        : "no way");
    });
  }
  // Delay against time, with the time that is shown; a click goes there.
  function strip() {
    var W = 960, H = 64, g = surface($("strip"), W, H), low = Infinity, high = 0;
    D.courses.forEach(function (c) {
      c.delays.forEach(function (d) { if (d >= 0) { low = Math.min(low, d); high = Math.max(high, d); } });
    });
    if (high - low < 100) { low -= 50; high += 50; }
    var x = function (ms) { return 2 + (W - 4) * ms / 1000 / D.duration; };
    var y = function (d) { return 16 + (H - 22) * (high - d) / (high - low); };
    D.courses.forEach(function (c) {
      g.beginPath();
      var pen = false;
      c.times.forEach(function (t, i) {
        var d = c.delays[i];
        if (d < 0) { pen = false; return; }
        if (pen) g.lineTo(x(t), y(d)); else g.moveTo(x(t), y(d));
        pen = true;
      });
      g.strokeStyle = c.colour;
      g.lineWidth = 1.2;
      g.stroke();
    });
    g.beginPath();
    g.moveTo(x(time * 1000), 0);
    g.lineTo(x(time * 1000), H);
    g.strokeStyle = "#1f2328";
    g.lineWidth = 1.4;
    g.stroke();
    g.font = "10px 'DejaVu Sans', sans-serif";
    g.fillStyle = "#57606a";
    g.fillText("one-way delay, " + (low / 1000).toFixed(1) + " to " + (high / 1000).toFixed(1) + " ms", 4, 10);
  }
  function clock(t) {
    var two = function (n) { return (n < 10 ? "0" : "") + n; };
    return two(Math.floor(t / 3600)) + ":" + two(Math.floor(t / 60) % 60) + ":" + two(Math.floor(t) % 60);
  }
  function go(t) { time = Math.max(0, Math.min(D.duration, t)); draw(); }
  function frame(stamp) {
    if (!playing) return;
    var passed = last ? Math.min((stamp - last) / 1000, 0.2) : 0;
    last = stamp;
    time += passed * Number($("speed").value);
    if (time > D.duration) time = 0;
    draw();
    requestAnimationFrame(frame);
  }
  document.querySelectorAll(".map, .controls").forEach(function (e) { e.classList.add("live"); });
  $("play").addEventListener("click", function () {
    playing = !playing;
    last = 0;
    $("play").textContent = playing ? "Pause" : "Play";
    if (playing) requestAnimationFrame(frame);
  });
  $("time").addEventListener("input", function () { go(Number($("time").value)); });
  ["coverage", "links"].forEach(function (id) { $(id).addEventListener("change", draw); });
  if ($("view")) $("view").addEventListener("change", function () {
    shown = Number($("view").value);
    views.forEach(function (e, i) { e.hidden = i !== shown; });
    draw();
  });
  $("strip").addEventListener("click", function (e) {
    var box = $("strip").getBoundingClientRect();
    go((e.clientX - box.left) / box.width * D.duration);
  });
  window.addEventListener("resize", draw);
  draw();
})();
