// Parameters of the tour
// Run this first. For your own skills, set namespace to what you use (mostly "default"), id to what a click on a skill
// shows, domain and tag to their names.
:param namespace => "sample";
:param id => "diagnose-chest-pains";
:param now => datetime();
:param domain => "software";
:param tag => "planning";
